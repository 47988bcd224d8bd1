import { Button, type ButtonProps, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog.js';
import { FormFault } from './form.js';
import { CancelButton } from './cancel-button.js';
import type { ActionTexts } from './modal-form.js';

interface ConfirmActionProps extends ButtonProps {
  texts: ActionTexts;
  /** In place of the hint, if it is more than a sentence. */
  children?: ReactNode;
  act: () => Promise<unknown>;
  /** Reads again what `act` changed. */
  reread?: () => Promise<void>;
  /** People must type this first, if the action cannot be undone. */
  phrase?: string | undefined;
  isDangerous?: boolean;
}

/** A button for actions that are hard to undo. It says first what will happen, and shows errors of the server. */
export function ConfirmAction(props: ConfirmActionProps) {
  const {
    texts,
    children = <Text>{texts.hint}</Text>,
    act,
    reread,
    phrase,
    isDangerous = true,
    ...button
  } = props;
  const { do: label, title = label } = texts;
  const [isOpen, { open, close }] = useDisclosure(false);
  const run = () => act().then(reread);
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label}
      </Button>
      <Dialog opened={isOpen} onClose={close} title={title}>
        <Question label={label} act={run} phrase={phrase} isDangerous={isDangerous} close={close}>
          {children}
        </Question>
      </Dialog>
    </>
  );
}

type QuestionProps = Omit<ConfirmActionProps, 'texts' | 'reread'> & { label: string; close: () => void };

function Question({ label, children, act, phrase, isDangerous, close }: QuestionProps) {
  const [typed, setTyped] = useState('');
  const action = useMutation({ mutationFn: act, onSuccess: close });
  return (
    <Stack>
      <div>{children}</div>
      {phrase !== undefined && <PhraseInput phrase={phrase} typed={typed} type={setTyped} />}
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

interface PhraseInputProps {
  phrase: string;
  typed: string;
  type: (text: string) => void;
}

function PhraseInput({ phrase, typed, type }: PhraseInputProps) {
  const { t } = useTranslation('shell');
  return (
    <TextInput
      label={t('confirm.type', { phrase })}
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
      autoComplete="off"
    />
  );
}
