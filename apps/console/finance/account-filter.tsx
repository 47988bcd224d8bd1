import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useParam } from '../ui/address.js';
import { Named } from '../ui/named.js';
import { ID } from '../ui/patterns.js';

const TYPING_MS = 250;

/** Narrows a list to one account, as soon as its id is whole. */
export function AccountFilter() {
  const { t } = useTranslation('finance');
  const { value, set } = useParam('accountId');
  const find = useDebouncedCallback((words: string) => {
    const id = words.trim().toLowerCase();
    if (id === '' || ID.test(id)) set(id || undefined);
  }, TYPING_MS);
  return (
    <TextInput
      label={t('filters.account')}
      placeholder={t('filters.accountHint')}
      defaultValue={value ?? ''}
      onChange={({ currentTarget }) => find(currentTarget.value)}
      description={value !== undefined && <Named kind="account" id={value} />}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      maxLength={40}
      w={{ base: '100%', xs: '20rem' }}
    />
  );
}
