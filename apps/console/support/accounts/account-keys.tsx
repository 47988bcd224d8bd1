import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, extra, menuColumn, rightColumn, textColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { Money } from '../../ui/money.js';
import { When } from '../../ui/time/when.js';
import type { AccountRecord } from './found-account.js';

/** The keys of an account and their limits, which only the owner can change. */
export function AccountKeys({ keys }: { keys: AccountRecord['keys'] }) {
  const { t } = useTranslation('support');
  return (
    <DataList
      texts={t('keys.list')}
      query={knownRows(keys)}
      columns={useColumns()}
      rowKey="keyId"
      name="support-keys"
    />
  );
}

function useColumns(): ListColumn<Shape<'Key'>>[] {
  const { t } = useTranslation('support');
  const limit = (value: string | null) => (value === null ? t('keys.noLimit') : <Money value={value} />);
  const time = (at: string | null) => (at === null ? t('keys.never') : <When at={at} />);
  return [
    column('name', t('keys.name'), (key) => <Name of={key} />),
    textColumn('group', t('keys.group')),
    rightColumn('month', t('keys.month'), ({ spentThisMonth }) => <Money value={spentThisMonth} />),
    rightColumn('monthly', t('keys.monthlyLimit'), (key) => limit(key.monthlyLimit)),
    rightColumn('total', t('keys.totalLimit'), (key) => limit(key.totalLimit)),
    extra(
      rightColumn('rates', t('keys.requestsPerMinute'), (key) => key.requestsPerMinute ?? t('keys.asGroup')),
    ),
    extra(
      column('models', t('keys.models'), ({ allowedModels }) => allowedModels?.join(', ') ?? t('keys.all')),
    ),
    extra(column('ips', t('keys.ips'), ({ allowedIps }) => allowedIps?.join(', ') ?? t('keys.all'))),
    column('expires', t('keys.expires'), ({ expiresAt }) => time(expiresAt)),
    column('used', t('keys.used'), ({ lastUsedAt }) => time(lastUsedAt)),
    menuColumn(({ keyId }) => [{ copy: keyId }]),
  ];
}

function Name({ of: { name, prefix, keyId } }: { of: Shape<'Key'> }) {
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
