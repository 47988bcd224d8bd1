import { Button, type ButtonProps, type ModalProps, Stack } from '@mantine/core';
import type { FormErrors, UseFormReturnType } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { newRequestId } from '../../api/queries.js';
import { notify } from '../../shell/notices.js';
import { Dialog } from './dialog.js';
import { SendForm, useSendForm } from './form.js';
import { TextLine } from '../texts.js';

export interface ModalFormProps<Values extends Record<string, unknown>, Answer> {
  /** The button that opens the form: a verb. */
  label: string;
  /** The button that sends it, where it is called otherwise. */
  submit?: string;
  title: string;
  /** What will happen. */
  hint?: ReactNode;
  initial: Values;
  validate?: (values: Values) => FormErrors;
  fields: (form: UseFormReturnType<Values>) => ReactNode;
  /** The request id is the same as long as the form is open. */
  send: (values: Values, requestId: string) => Promise<Answer>;
  /** Reads again what it changed. */
  reread?: () => Promise<void>;
  /** The notice that is shown afterwards. */
  told?: (answer: Answer) => string;
  /** Whatever else is to be done. */
  done?: (answer: Answer) => unknown;
  isDangerous?: boolean;
  button?: ButtonProps & { title?: string };
  size?: ModalProps['size'];
}

/** A button for what needs some words first, such as why: it says what will happen, and does it once however often it is sent. */
export function ModalForm<Values extends Record<string, unknown>, Answer>(
  props: ModalFormProps<Values, Answer>,
) {
  const { label, title, button, size = 'md' } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {label}
      </Button>
      <Dialog opened={isOpen} onClose={close} title={title} size={size}>
        <Body {...props} close={close} />
      </Dialog>
    </>
  );
}

function Body<Values extends Record<string, unknown>, Answer>(
  props: ModalFormProps<Values, Answer> & { close: () => void },
) {
  const { label, submit = label, hint, initial, validate, fields, isDangerous = false, close } = props;
  const { t } = useTranslation('shell');
  const [requestId] = useState(newRequestId);
  const { form, sending } = useSendForm<Values, Answer>({
    initialValues: initial,
    ...(validate ? { validate } : {}),
    send: (values) => props.send(values, requestId),
    done: async (answer) => {
      await props.reread?.();
      if (props.told) notify(props.told(answer));
      await props.done?.(answer);
      close();
    },
  });
  const cancel = (
    <Button variant="default" onClick={close}>
      {t('confirm.cancel')}
    </Button>
  );
  return (
    <SendForm sending={sending} submit={submit} button={isDangerous ? { color: 'red' } : {}} aside={cancel}>
      {hint && <TextLine>{hint}</TextLine>}
      <Stack gap="sm">{fields(form)}</Stack>
    </SendForm>
  );
}
