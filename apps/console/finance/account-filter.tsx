import { useTranslation } from 'react-i18next';
import { useParam } from '../ui/address.js';
import { WordsField } from '../ui/lists/search-field.js';
import { useCopies } from '../ui/lists/row-actions.js';
import type { RowAction } from '../ui/lists/row-menu.js';
import { Named } from '../ui/named.js';
import { ID } from '../ui/patterns.js';

/** Narrows a list to one account, as soon as its id is whole. */
export function AccountFilter() {
  const { t } = useTranslation('finance');
  const { value } = useParam('accountId');
  return (
    <WordsField
      param="accountId"
      label={t('filters.account')}
      placeholder={t('filters.accountHint')}
      read={idIn}
      description={value !== undefined && <Named kind="account" id={value} />}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      maxLength={40}
      w={{ base: '100%', xs: '20rem' }}
    />
  );
}

function idIn(words: string): string | null {
  const id = words.toLowerCase();
  return id === '' || ID.test(id) ? id : null;
}

/** What the menu of a row offers of its account, where the list has the filter. */
export function useAccountActions(): (accountId: string) => RowAction[] {
  const { t } = useTranslation('shell');
  const copies = useCopies();
  return (accountId) => [...copies({ account: accountId }), { only: { accountId }, what: t('list.account') }];
}
