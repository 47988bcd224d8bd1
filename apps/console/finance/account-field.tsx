import type { SelectProps } from '@mantine/core';
import { $api } from '../api/client.js';
import { useName } from '../api/names.js';
import { common, type Field, type FieldOptions } from '../ui/forms/field.js';
import { SearchSelect, useSearchWords } from './search-select.js';

type AccountOptions = FieldOptions<string | null> & { missing?: string };

/** The account that a form is about, found by its name, email address or id; sends its id, or the empty text for none. */
export function accountField(label: string, given: AccountOptions = {}): Field<string | null, string> {
  const { missing, ...options } = given;
  const { field, input } = common<string | null>(null, options);
  return {
    ...field,
    read: (value) => value ?? '',
    fault: (value) => (value === null ? (missing ?? null) : null),
    draw: (bound) => <AccountSelect label={label} required={missing !== undefined} {...input} {...bound} />,
  };
}

/** Looks accounts up as people type, and chooses one. */
export function AccountSelect({ value = null, ...select }: Omit<SelectProps, 'data'>) {
  const typed = useSearchWords();
  const search = $api.useQuery(
    'get',
    '/api/finance/accounts',
    { params: { query: { query: typed.query } } },
    { enabled: typed.isEnough },
  );
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
