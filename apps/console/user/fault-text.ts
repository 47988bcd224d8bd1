import { useTranslation } from 'react-i18next';

/** Refusals and failures that calls meet often. */
const FAULTS = [
  'insufficient_user_quota',
  'key_limit_exceeded',
  'account_limit_exceeded',
  'account_frozen',
  'ip_not_allowed',
  'group_not_granted',
  'model_not_allowed',
  'model_not_found',
  'content_policy_violation',
  'rate_limit_exceeded',
  'upstream_rejected',
  'generation_failed',
  'unreachable',
] as const;

export type CallFault = (typeof FAULTS)[number];

export function isFault(code: string): code is CallFault {
  return FAULTS.some((each) => each === code);
}

/** Translates an error code; unknown codes stay. */
export function useFaultText(): (code: string) => string {
  const { t } = useTranslation('calls');
  return (code) => (isFault(code) ? t(`play.faults.${code}`) : t('play.faults.unknown', { code }));
}
