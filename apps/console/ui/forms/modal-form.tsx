import { Button, type ButtonProps, type ModalProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { newRequestId } from '../../api/client.js';
import { TextLine } from '../texts.js';
import { Form, type FormOptions } from './declared.js';
import { FormDialog } from './form-dialog.js';
import type { FormFields, Sent } from './field.js';
import { CancelButton } from './cancel-button.js';

export interface ActionTexts {
  /** The button that opens the dialog: a verb, such as "Delete the key". */
  do: string;
  /** The verb by default. */
  title?: string;
  /** What will happen, and what will not. */
  hint?: string;
  /** The button that sends it, if its label differs. */
  submit?: string;
}

export interface ModalFormProps<F extends FormFields, Answer> extends Pick<
  FormOptions<F, Answer>,
  'fields' | 'hidden' | 'faults' | 'reread' | 'success'
> {
  texts: ActionTexts;
  /** In place of the text's hint, if it is more than a sentence. */
  hint?: ReactNode;
  /** The request id stays the same while the form is open. */
  send: (values: Sent<F>, requestId: string) => Promise<Answer>;
  /** What else to do. */
  done?: (answer: Answer) => unknown;
  isDangerous?: boolean;
  button?: ButtonProps & { title?: string };
  size?: ModalProps['size'];
}

/** A button that opens a form. It says what will happen, and does it once, even if sent twice. */
export function ModalForm<F extends FormFields, Answer>(props: ModalFormProps<F, Answer>) {
  const { texts, button, size = 'md' } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {texts.do}
      </Button>
      <FormDialog
        opened={isOpen}
        onClose={close}
        closeOnClickOutside={false}
        title={texts.title ?? texts.do}
        size={size}
      >
        <Body {...props} close={close} />
      </FormDialog>
    </>
  );
}

function Body<F extends FormFields, Answer>(props: ModalFormProps<F, Answer> & { close: () => void }) {
  const { texts, hint = texts.hint, isDangerous, close, ...form } = props;
  const [requestId] = useState(newRequestId);
  return (
    <Form<F, Answer>
      {...form}
      submit={texts.submit ?? texts.do}
      send={(values) => props.send(values, requestId)}
      done={async (answer) => {
        await props.done?.(answer);
        close();
      }}
      button={isDangerous ? { color: 'red' } : {}}
      aside={<CancelButton cancel={close} />}
    >
      {hint && <TextLine>{hint}</TextLine>}
    </Form>
  );
}
