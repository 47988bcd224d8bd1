import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { asFailure } from '../api/failure.js';
import { FailureLine } from '../ui/failure-text.js';
import { wordsOfFailure } from '../ui/failure-words.js';
import { isViewing } from './session.js';

/** Says that something was done. Put anything that takes time to read on the page instead. */
export function notify(message: string): void {
  notifications.show({ message, color: 'green', closeButtonProps: closeButton() });
}

/** Shows a failure that has no place on the page, such as of a header button. */
export function notifyFailure(error: unknown): void {
  const failure = asFailure(error);
  const t = i18next.getFixedT(null, 'shell');
  const { requestId } = failure;
  notifications.show({
    message: (
      <>
        <FailureLine {...wordsOfFailure(failure, { t, isViewing: isViewing() })} />
        {requestId !== null && ` ${t('failure.requestId')} ${requestId}`}
      </>
    ),
    color: 'red',
    autoClose: false,
    closeButtonProps: closeButton(),
  });
}

function closeButton() {
  return { 'aria-label': i18next.t('close', { ns: 'shell' }) };
}
