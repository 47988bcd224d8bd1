import { Group, Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { Section } from '../../ui/states.js';
import { LedgerAccountLink } from '../transaction-links.js';
import type { DaySpan } from '../utc-days.js';

/** Prefixes of the ledger accounts of revenue and its costs. */
const BEGINNINGS = ['usage', 'expense:upstream'] as const;

/** The ledger accounts behind the figures, each with its entries of these days. */
export function RevenueEntries({ days }: { days: DaySpan }) {
  const { t } = useTranslation('reports');
  const found = useQueries({
    queries: BEGINNINGS.map((code) =>
      $api.queryOptions('get', '/api/finance/ledger-accounts', { params: { query: { code, limit: 100 } } }),
    ),
  });
  const accounts = found.flatMap(({ data }) => data?.items ?? []);
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
