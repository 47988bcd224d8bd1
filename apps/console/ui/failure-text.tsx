import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { type ApiFailure } from '../api/failure.js';
import { useIsViewing } from '../shell/session.js';

/** Errors with a translated text. */
const TRANSLATED = [
  'unreachable',
  'not_signed_in',
  'forbidden',
  'second_factor_required',
  'confirmation_required',
  'not_found',
  'csrf_rejected',
  'too_many_attempts',
  'service_unavailable',
  'internal_error',
  'sign_in_failed',
  'totp_required',
  'invalid_api_key',
  'insufficient_user_quota',
  'key_limit_exceeded',
  'account_limit_exceeded',
  'account_frozen',
  'account_closing',
  'model_not_found',
  'group_not_granted',
  'model_not_allowed',
  'rate_limit_exceeded',
  'request_too_large',
  'video_expired',
  'video_deleted',
  'payment_provider_failed',
] as const;

/** Errors with many causes: our text says what happened, the server's message why. */
const EXPLAINED = [
  'conflict',
  'second_person_required',
  'invalid_value',
  'missing_required_parameter',
  'invalid_request',
  'unexpected_answer',
] as const;

/** Fields that ask for the password of the signed-in user. */
const PASSWORD_FIELDS: readonly (string | null)[] = ['password', 'currentPassword'];

export interface FailureText {
  text: string;
  /** The server's message in English, if it says more. */
  details: string | null;
}

/** The text of a failure in the current language. Unknown codes show the server's message. */
export function wordsOfFailure(
  { code, message }: ApiFailure,
  { t, isViewing }: { t: TFunction<'shell'>; isViewing: boolean },
): FailureText {
  if (isViewing && code === 'forbidden') return { text: t('viewing.refused'), details: null };
  const translated = TRANSLATED.find((each) => each === code);
  if (translated) return { text: t(`failure.codes.${translated}`), details: null };
  const explained = EXPLAINED.find((each) => each === code);
  if (explained) return { text: t(`failure.codes.${explained}`), details: message };
  return { text: message, details: null };
}

export function useFailureText(): (failure: ApiFailure) => FailureText {
  const { t } = useTranslation('shell');
  const isViewing = useIsViewing();
  return (failure) => wordsOfFailure(failure, { t, isViewing });
}

export function FailureLine({ text, details }: FailureText) {
  if (details === null) return text;
  return (
    <>
      {text} <span lang="en">{details}</span>
    </>
  );
}

/** The text of a failure at its field. English pages show the server's message. */
export function useFieldText(): (failure: ApiFailure) => FailureText {
  const { t, i18n } = useTranslation('shell');
  return ({ code, param, message }) => {
    if (code === 'forbidden' && PASSWORD_FIELDS.includes(param))
      return { text: t('failure.fields.password'), details: null };
    if (code === 'sign_in_failed' || (code === 'forbidden' && param === 'code'))
      return { text: t('failure.fields.code'), details: null };
    if (code === 'missing_required_parameter') return { text: t('failure.fields.missing'), details: null };
    const sentence = withoutName(message);
    if (i18n.language === 'en') return { text: sentence, details: null };
    return { text: t('failure.fields.invalid'), details: sentence };
  };
}

/** The server's messages begin with the field name, which the label already shows. */
function withoutName(message: string): string {
  const sentence = message.replace(/^[\w.[\]]+: /, '');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
