import type { TFunction } from 'i18next';
import type { ApiFailure } from '../api/failure.js';

/** Errors with a translated text. */
const TRANSLATED = [
  'unreachable',
  'not_signed_in',
  'forbidden',
  'second_factor_required',
  'confirmation_required',
  'not_found',
  'csrf_rejected',
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
  'too_many_attempts',
  'invalid_value',
  'missing_required_parameter',
  'invalid_request',
  'unexpected_answer',
] as const;

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
