import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Column, DataList } from '../../ui/data-list.js';
import { knownRows } from '../../ui/known-rows.js';
import { Money } from '../../ui/money.js';
import { When } from '../../ui/when.js';
import type { FoundAccount } from './found-account.js';

type Key = FoundAccount['keys'][number];

/** The keys of an account, with their limits: only the owner changes them. */
export function AccountKeys({ keys }: { keys: FoundAccount['keys'] }) {
  const { t } = useTranslation('support');
  return (
    <DataList
      label={t('keys.label')}
      query={knownRows(keys)}
      columns={useColumns()}
      rowKey={({ keyId }) => keyId}
      empty={{ title: t('keys.empty'), hint: t('keys.emptyHint') }}
      columnsName="support-keys"
    />
  );
}

function useColumns(): Column<Key>[] {
  const { t } = useTranslation('support');
  const limit = (value: string | null) => (value === null ? t('keys.noLimit') : <Money value={value} />);
  return [
    { id: 'name', header: t('keys.name'), cell: (key) => <Name of={key} /> },
    { id: 'group', header: t('keys.group'), cell: ({ group }) => group },
    {
      id: 'month',
      header: t('keys.month'),
      align: 'right',
      cell: ({ spentThisMonth }) => <Money value={spentThisMonth} />,
    },
    { id: 'monthly', header: t('keys.monthlyLimit'), align: 'right', cell: (key) => limit(key.monthlyLimit) },
    { id: 'total', header: t('keys.totalLimit'), align: 'right', cell: (key) => limit(key.totalLimit) },
    {
      id: 'rates',
      header: t('keys.requestsPerMinute'),
      align: 'right',
      cell: ({ requestsPerMinute }) => requestsPerMinute ?? t('keys.asGroup'),
      isExtra: true,
    },
    {
      id: 'models',
      header: t('keys.models'),
      cell: ({ allowedModels }) => allowedModels?.join(', ') ?? t('keys.all'),
      isExtra: true,
    },
    {
      id: 'ips',
      header: t('keys.ips'),
      cell: ({ allowedIps }) => allowedIps?.join(', ') ?? t('keys.all'),
      isExtra: true,
    },
    {
      id: 'expires',
      header: t('keys.expires'),
      cell: ({ expiresAt }) => (expiresAt === null ? t('keys.never') : <When at={expiresAt} />),
    },
    {
      id: 'used',
      header: t('keys.used'),
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? t('keys.never') : <When at={lastUsedAt} />),
    },
  ];
}

function Name({ of: { name, prefix, keyId } }: { of: Key }) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={600} className="model-name">
        {name}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace" title={keyId}>
        {prefix === null ? keyId : `${prefix}…`}
      </Text>
    </Stack>
  );
}
