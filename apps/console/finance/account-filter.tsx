import { useTranslation } from 'react-i18next';
import { useParam } from '../ui/address.js';
import { useCopies } from '../ui/lists/row-actions.js';
import type { RowAction } from '../ui/lists/row-menu.js';
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

/** Row menu entries for an account: copy its ID, or show only its rows. */
export function useAccountActions(): (accountId: string) => RowAction[] {
  const { t } = useTranslation('shell');
  const copies = useCopies();
  return (accountId) => [...copies({ account: accountId }), { only: { accountId }, what: t('list.account') }];
}
