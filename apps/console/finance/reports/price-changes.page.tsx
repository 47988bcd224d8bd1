import { Group, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Answer } from '../../api/queries.js';
import { Who } from '../../shell/who.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { DayRange } from '../../ui/day-range.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { Page } from '../../ui/page.js';
import { When } from '../../ui/when.js';
import { Choice } from '../choice.js';
import { CsvLink } from '../csv-link.js';
import { timesOf } from '../utc-days.js';
import { column, moneyColumn, rightColumn } from '../../ui/columns.js';

const route = getRouteApi('/finance/price-changes');
const kinds = ['price', 'multiplier', 'rule'] as const;
const TYPING_MS = 250;

type Change = Answer<'/api/finance/reports/price-changes'>['versions'][number];

/** Every version of a price, multiplier or group rule, who made it, and what was earned by it. */
export function PriceChangesPage() {
  const { t } = useTranslation('reports');
  const { from, to, kind, subject } = route.useSearch();
  const navigate = route.useNavigate();
  const query = { ...timesOf({ from, to }), ...(kind ? { kind } : {}), ...(subject ? { subject } : {}) };
  const changes = $api.useQuery(
    'get',
    '/api/finance/reports/price-changes',
    { params: { query } },
    { placeholderData: keepPreviousData },
  );
  const set = (change: object) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const find = useDebouncedCallback(
    (words: string) => set({ subject: words.trim() || undefined }),
    TYPING_MS,
  );
  return (
    <Page title={t('priceChanges.title')} about={t('priceChanges.about')}>
      <Group align="flex-end" gap="sm">
        <DayRange from={from} to={to} set={set} />
        <Choice
          label={t('priceChanges.kind')}
          options={kinds.map((value) => ({ value, label: t(`priceChanges.kinds.${value}`) }))}
          value={kind}
          set={(value) => set({ kind: value })}
        />
        <TextInput
          label={t('priceChanges.subject')}
          defaultValue={subject ?? ''}
          onChange={({ currentTarget }) => find(currentTarget.value)}
          maxLength={100}
        />
        <CsvLink path="/api/finance/reports/price-changes.csv" query={query} />
      </Group>
      <DataList
        label={t('priceChanges.title')}
        query={{
          data: changes.data && { items: changes.data.versions },
          error: changes.error,
          refetch: changes.refetch as never,
          isPlaceholderData: changes.isPlaceholderData,
        }}
        columns={useColumns()}
        rowKey={({ kind: what, versionId }) => `${what} ${versionId}`}
        empty={{ title: t('priceChanges.empty'), hint: t('priceChanges.emptyHint') }}
      />
    </Page>
  );
}

function useColumns(): Column<Change>[] {
  const { t } = useTranslation('reports');
  const locale = useLocale();
  return [
    column('from', t('priceChanges.from'), ({ effectiveFrom, until }) => (
      <Stack gap={0}>
        <span>{effectiveFrom === null ? t('priceChanges.always') : <When at={effectiveFrom} />}</span>
        {until !== null && (
          <Text size="xs" c="dimmed" component="div">
            {t('priceChanges.until')} <When at={until} />
          </Text>
        )}
      </Stack>
    )),
    column('subject', t('priceChanges.subject'), ({ kind, subject }) => (
      <Stack gap={0}>
        <Text size="sm" className="model-name">
          {subject}
        </Text>
        <Text size="xs" c="dimmed">
          {t(`priceChanges.kinds.${kind}`)}
        </Text>
      </Stack>
    )),
    rightColumn('value', t('priceChanges.value'), ({ before, value }) =>
      before === null ? value : `${before} → ${value}`,
    ),
    column('by', t('priceChanges.by'), ({ proposal }) =>
      proposal === null ? (
        t('priceChanges.catalog')
      ) : (
        <Stack gap={0}>
          <Text size="xs">{proposal.note}</Text>
          <Who actor={proposal.proposedBy} />
          {proposal.decidedBy !== null && <Who actor={proposal.decidedBy} />}
        </Stack>
      ),
    ),
    rightColumn('charges', t('revenue.charges'), ({ charges }) => exactDecimal(charges, locale)),
    moneyColumn('gross', t('priceChanges.gross')),
  ];
}
