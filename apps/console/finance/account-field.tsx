import type { SelectProps } from '@mantine/core';
import { useRead } from '../api/client.js';
import { useName } from '../api/names.js';
import { foundField, type FoundOptions, SearchSelect, useSearchWords } from './search-select.js';

/** Finds an account by its name, email address or id. */
export function accountField(label: string, options: FoundOptions = {}) {
  return foundField(AccountSelect, label, options);
}

export function AccountSelect({ value = null, ...select }: Omit<SelectProps, 'data'>) {
  const typed = useSearchWords();
  const params = { query: { query: typed.query } };
  const search = useRead('/api/finance/accounts', params, { enabled: typed.isEnough });
  const found = (search.data?.items ?? []).map(({ accountId, name, email }) => ({
    value: accountId,
    label: name || (email ?? accountId),
    second: email ?? accountId,
  }));
  return (
    <SearchSelect
      typed={typed}
      search={search}
      found={found}
      chosenName={useName('account', value ?? '')}
      what="account"
      value={value}
      {...select}
    />
  );
}
