import { useTranslation } from 'react-i18next';
import { useParam } from '../ui/address.js';
import { AccountSelect } from './account-field.js';

export function AccountFilter() {
  const { t } = useTranslation('finance');
  const { value = null, set } = useParam('accountId');
  return (
    <AccountSelect
      aria-label={t('filters.account')}
      placeholder={t('filters.account')}
      value={value}
      onChange={(chosen) => set(chosen ?? undefined)}
      w={{ base: '100%', xs: '20rem' }}
    />
  );
}
