import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/client.js';
import { Section } from '../../ui/page.js';
import { LedgerAccountLink } from '../transaction-links.js';
import type { DaySpan } from '../utc-days.js';

/** The ledger accounts of revenue, or of its costs, by the beginning of their codes. */
function useAccounts(code: 'usage' | 'expense:upstream') {
  return useRead('/api/finance/ledger-accounts', { query: { code, limit: 100 } }).data?.items ?? [];
}

/** The ledger accounts behind the figures, each with its entries of these days. */
export function RevenueEntries({ days }: { days: DaySpan }) {
  const { t } = useTranslation('reports');
  const accounts = [...useAccounts('usage'), ...useAccounts('expense:upstream')];
  if (accounts.length === 0) return null;
  return (
    <Section title={t('revenue.entries')}>
      <Text size="sm">{t('revenue.entriesHint')}</Text>
      <Group gap="sm" component="ul" className="plain-list">
        {accounts.map(({ id, code }) => (
          <li key={id}>
            <LedgerAccountLink id={id} code={code} search={days} size="sm" />
          </li>
        ))}
      </Group>
    </Section>
  );
}
