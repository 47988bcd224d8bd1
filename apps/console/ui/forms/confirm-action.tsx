import { Button, type ButtonProps, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog.js';
import { FormFault } from './form.js';
import { CancelButton } from './cancel-button.js';

interface ConfirmActionProps extends ButtonProps {
  /** The button that asks, and the one that does: a verb, such as "Delete the key". */
  label: string;
  title: string;
  /** What will happen, and what will not. */
  hint?: string;
  /** The same where it is more than a sentence. */
  children?: ReactNode;
  act: () => Promise<unknown>;
  /** For what cannot be undone: has to be typed before. */
  phrase?: string;
  isDangerous?: boolean;
}

/** A button for what is not undone easily. It says what will happen before it does it, and shows what the server refuses. */
export function ConfirmAction(props: ConfirmActionProps) {
  const {
    label,
    title,
    hint,
    children = <Text>{hint}</Text>,
    act,
    phrase,
    isDangerous = true,
    ...button
  } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  const asked = { label, children, act, isDangerous, ...(phrase === undefined ? {} : { phrase }) };
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label}
      </Button>
      <Dialog opened={isOpen} onClose={close} title={title}>
        <Question {...asked} close={close} />
      </Dialog>
    </>
  );
}

type QuestionProps = Omit<ConfirmActionProps, 'title' | 'hint'> & { close: () => void };

function Question({ label, children, act, phrase, isDangerous, close }: QuestionProps) {
  const { t } = useTranslation('shell');
  const [typed, setTyped] = useState('');
  const action = useMutation({ mutationFn: act, onSuccess: close });
  return (
    <Stack>
      <div>{children}</div>
      {phrase !== undefined && (
        <TextInput
          label={t('confirm.type', { phrase })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
      <FormFault error={action.error} />
      <Group justify="flex-end">
        <CancelButton cancel={close} />
        <Button
          {...(isDangerous ? { color: 'red' } : {})}
          loading={action.isPending}
          disabled={phrase !== undefined && typed !== phrase}
          onClick={() => action.mutate()}
        >
          {label}
        </Button>
      </Group>
    </Stack>
  );
}
