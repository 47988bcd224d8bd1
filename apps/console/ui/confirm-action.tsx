import { Button, type ButtonProps, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asFailure } from '../api/failure.js';
import { FormFault } from './form.js';
import { Dialog } from './dialog.js';

interface ConfirmActionProps extends ButtonProps {
  /** The button that asks, and the one that does: a verb, such as "Delete the key". */
  label: string;
  title: string;
  /** What will happen, and what will not. */
  children: ReactNode;
  act: () => Promise<unknown>;
  /** For what cannot be undone: has to be typed before. */
  phrase?: string;
  isDangerous?: boolean;
}

/** A button for what is not undone easily. It says what will happen before it does it, and shows what the server refuses. */
export function ConfirmAction({
  label,
  title,
  children,
  act,
  phrase,
  isDangerous = true,
  ...button
}: ConfirmActionProps) {
  const { t } = useTranslation('shell');
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const field = useId();
  const action = useMutation({ mutationFn: act, onSuccess: () => setOpen(false) });
  const open = () => {
    action.reset();
    setTyped('');
    setOpen(true);
  };
  const colour = isDangerous ? { color: 'red' } : {};
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label}
      </Button>
      <Dialog opened={isOpen} onClose={() => setOpen(false)} title={title}>
        <Stack>
          <div>{children}</div>
          {phrase !== undefined && (
            <TextInput
              id={field}
              label={t('confirm.type', { phrase })}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
            />
          )}
          <FormFault failure={action.error ? asFailure(action.error) : null} />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              {t('confirm.cancel')}
            </Button>
            <Button
              {...colour}
              loading={action.isPending}
              disabled={phrase !== undefined && typed !== phrase}
              onClick={() => action.mutate()}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}
