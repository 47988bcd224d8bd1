import { useTranslation } from 'react-i18next';
import type { Field } from '../../ui/forms/field.js';
import { passwordField } from '../../ui/forms/text-fields.js';

/** Asked for again before sensitive changes. */
export function useCurrentPassword(options: { isFirst?: boolean; maw?: string } = {}): Field<string> {
  const { t } = useTranslation('account');
  return passwordField(t('password.current'), {
    missing: t('password.missing'),
    autoComplete: 'current-password',
    ...options,
  });
}
