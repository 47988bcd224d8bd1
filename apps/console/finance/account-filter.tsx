import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useParam, useTyped } from '../ui/address.js';
import type { RowAction } from '../ui/lists/row-menu.js';
import { Named } from '../ui/named.js';
import { ID } from '../ui/patterns.js';

const TYPING_MS = 250;

/** Narrows a list to one account, as soon as its id is whole. */
export function AccountFilter() {
  const { t } = useTranslation('finance');
  const { value, set } = useParam('accountId');
  const { typed, type, send } = useTyped(value);
  const find = useDebouncedCallback((words: string) => {
    const id = words.trim().toLowerCase();
    if (id !== '' && !ID.test(id)) return;
    send(id || undefined);
    set(id || undefined);
  }, TYPING_MS);
  return (
    <TextInput
      label={t('filters.account')}
      placeholder={t('filters.accountHint')}
      value={typed}
      onChange={({ currentTarget }) => {
        type(currentTarget.value);
        find(currentTarget.value);
      }}
      description={value !== undefined && <Named kind="account" id={value} />}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      maxLength={40}
      w={{ base: '100%', xs: '20rem' }}
    />
  );
}

/** What the menu of a row offers of its account, where the list has the filter. */
export function useAccountActions(): (accountId: string) => RowAction[] {
  const { t } = useTranslation('shell');
  return (accountId) => [
    { copy: accountId, label: t('list.copyAccount') },
    { only: { accountId }, what: t('list.account') },
  ];
}
