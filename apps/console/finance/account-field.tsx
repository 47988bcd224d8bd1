import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../api/client.js';
import { useName } from '../api/names.js';
import { common, type Field, type FieldOptions } from '../ui/forms/field.js';
import { TwoLines } from '../ui/texts.js';

/** The server looks for no less. */
const FEWEST_CHARS = 3;
/** Long enough that not every letter is looked up. */
const TYPING_PAUSE_MS = 250;

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
  const { t } = useTranslation('finance');
  const [words, type] = useState('');
  const { found, state } = useFound(words.trim());
  const name = useName('account', value ?? '');
  const isOther = value !== null && !found.some(({ accountId }) => accountId === value);
  const chosen = isOther ? [{ value, label: name ?? value }] : [];
  return (
    <Select
      placeholder={t('findAccount.search')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('findAccount.clear') }}
      value={value}
      data={[...chosen, ...found.map(optionOf)]}
      filter={({ options }) => options}
      onSearchChange={type}
      renderOption={({ option }) => {
        const account = found.find(({ accountId }) => accountId === option.value);
        return <TwoLines first={option.label} second={account?.email ?? option.value} />;
      }}
      nothingFoundMessage={t(`findAccount.${state}`)}
      {...select}
    />
  );
}

function useFound(words: string) {
  const [query] = useDebouncedValue(words, TYPING_PAUSE_MS);
  const isLongEnough = query.length >= FEWEST_CHARS;
  const { data, isError } = $api.useQuery(
    'get',
    '/api/finance/accounts',
    { params: { query: { query } } },
    { enabled: isLongEnough },
  );
  if (!isLongEnough) return { found: [], state: 'type' as const };
  return { found: data?.items ?? [], state: isError ? 'failed' : data ? 'none' : 'searching' } as const;
}

function optionOf({ accountId, name, email }: { accountId: string; name: string; email: string | null }) {
  return { value: accountId, label: name || (email ?? accountId) };
}
