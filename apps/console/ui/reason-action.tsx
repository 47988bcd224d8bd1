import { Button, type ButtonProps, Group, Modal, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormFault, useSend } from './form.js';

interface Reasoned<Name extends string> {
  /** The button that asks, and the one that does: a verb, such as "Freeze the account". */
  label: string;
  /** What will happen, and what will not. */
  children: ReactNode;
  /** The server's name of the reason, what it is called here, and who reads it. */
  field: { name: Name; label: string; hint: string };
  /** Said where nothing is written. */
  missing: string;
  act: (reason: string) => Promise<unknown>;
  isDangerous?: boolean | undefined;
  isOptional?: boolean | undefined;
}

interface ReasonActionProps<Name extends string>
  extends Reasoned<Name>, Omit<ButtonProps, keyof Reasoned<Name>> {
  title: string;
}

const MOST_CHARS = 500;

/** A button for what is not done without saying why. It says what will happen, and shows what the server refuses. */
export function ReasonAction<Name extends string>(props: ReasonActionProps<Name>) {
  const { label, title, children, field, missing, act, isDangerous, isOptional, ...button } = props;
  const asked = { label, children, field, missing, act, isDangerous, isOptional };
  const { t } = useTranslation('shell');
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button variant="default" {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} closeButtonProps={{ 'aria-label': t('close') }}>
        <ReasonForm {...asked} close={close} />
      </Modal>
    </>
  );
}

function ReasonForm<Name extends string>(props: Reasoned<Name> & { close: () => void }) {
  const { label, children, field, missing, act, isDangerous = true, isOptional = false, close } = props;
  const { t } = useTranslation('shell');
  const form = useForm<Record<string, string>>({
    initialValues: { [field.name]: '' },
    validate: { [field.name]: (value: string) => (isOptional || value.trim() ? null : missing) },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: (values) => act((values[field.name] ?? '').trim()),
    done: close,
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <div>{children}</div>
      <Textarea
        label={field.label}
        description={field.hint}
        maxLength={MOST_CHARS}
        autosize
        minRows={2}
        required={!isOptional}
        data-autofocus
        {...form.getInputProps(field.name)}
      />
      <FormFault failure={failure} />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          {t('confirm.cancel')}
        </Button>
        <Button type="submit" loading={isSending} {...(isDangerous ? { color: 'red' } : {})}>
          {label}
        </Button>
      </Group>
    </form>
  );
}
