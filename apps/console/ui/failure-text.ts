import { useTranslation } from 'react-i18next';
import { type ApiFailure } from '../api/failure.js';
import { useSession } from '../shell/session.js';

/** Refusals that people meet often, in their language. Others are told in the server's own words. */
const TOLD_HERE = [
  'unreachable',
  'not_signed_in',
  'forbidden',
  'not_found',
  'csrf_rejected',
  'too_many_attempts',
  'service_unavailable',
  'internal_error',
] as const;

/** What a failure is called in the language that is shown. */
export function useFailureText(): (failure: ApiFailure) => string {
  const { t } = useTranslation('shell');
  const isViewing = useSession()?.viewing != null;
  return (failure) => {
    if (isViewing && failure.code === 'forbidden') return t('viewing.refused');
    const known = TOLD_HERE.find((code) => code === failure.code);
    return known ? t(`failure.${known}`) : failure.message;
  };
}
