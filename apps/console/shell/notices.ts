import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { asFailure } from '../api/failure.js';

/** Says that something was done. For what people stay to read, put it on the page instead. */
export function notify(message: string): void {
  notifications.show({ message, color: 'green', closeButtonProps: closeButton() });
}

/** Says that something failed which has no place on the page, such as a button of the header. */
export function notifyFailure(error: unknown): void {
  const { message, requestId } = asFailure(error);
  const id = requestId === null ? '' : ` ${i18next.t('failure.requestId', { ns: 'shell' })} ${requestId}`;
  notifications.show({
    message: `${message}${id}`,
    color: 'red',
    autoClose: false,
    closeButtonProps: closeButton(),
  });
}

function closeButton() {
  return { 'aria-label': i18next.t('close', { ns: 'shell' }) };
}
