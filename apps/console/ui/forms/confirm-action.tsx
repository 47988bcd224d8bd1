import { Button, type ButtonProps, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, type UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './dialog.js';
import { FormFault } from './form.js';
import { CancelButton } from './cancel-button.js';
import type { ActionTexts } from './modal-form.js';

interface Asked {
  texts: ActionTexts;
  /** In place of the hint, if it is more than a sentence. */
  children?: ReactNode;
  act: () => Promise<unknown>;
  /** People must type this first, if the action cannot be undone. */
  phrase?: string | undefined;
  isDangerous?: boolean;
}

interface ConfirmActionProps extends Asked, Omit<ButtonProps, keyof Asked> {
  /** Reads again what `act` changed. */
  reread?: () => Promise<void>;
}

/** A button for actions that are hard to undo. It says first what will happen, and shows errors of the server. */
export function ConfirmAction(props: ConfirmActionProps) {
  const { texts, children, act, reread, phrase, isDangerous = true, ...button } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  const action = useMutation({ mutationFn: (done: Asked) => done.act().then(reread), onSuccess: close });
  // What was done may change what the button offers next, but not what its dialog asked.
  const isDone = action.isPending || action.isSuccess;
  const asked = isDone ? action.variables : { texts, children, act, phrase, isDangerous };
  const begin = () => {
    // Forgetting an action does not cancel it: while it runs, nobody can start it twice.
    if (!action.isPending) action.reset();
    open();
  };
  return (
    <>
      <Button variant="default" {...button} onClick={begin}>
        {texts.do}
      </Button>
      <Dialog opened={isOpen} onClose={close} title={asked.texts.title ?? asked.texts.do}>
        <Question asked={asked} action={action} close={close} />
      </Dialog>
    </>
  );
}

interface QuestionProps {
  asked: Asked;
  action: UseMutationResult<unknown, Error, Asked>;
  close: () => void;
}

function Question({ asked, action, close }: QuestionProps) {
  const { texts, children = <Text>{texts.hint}</Text>, phrase, isDangerous } = asked;
  const [typed, setTyped] = useState('');
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
          onClick={() => action.mutate(asked)}
        >
          {texts.do}
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
