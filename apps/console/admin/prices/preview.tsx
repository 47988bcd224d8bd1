import { Card, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, keepShown, type Shape } from '../../api/client.js';
import { column, moneyColumn, rightColumn, textColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { signOf } from '../../ui/decimal.js';
import { FactGrid } from '../../ui/lists/facts.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';
import { changeInPercent } from './percent.js';
import { optionsOf } from '../../ui/lists/choice.js';

const route = getRouteApi('/admin/prices/proposals/$proposalId');
const DAY_MS = 24 * 3_600_000;
const SPANS = { day: DAY_MS, week: 7 * DAY_MS, month: 31 * DAY_MS } as const;
type Span = keyof typeof SPANS;
const spans = Object.keys(SPANS) as Span[];
type Row = Shape<'PricePreview'>['rows'][number];

function usePreview(proposalId: string) {
  const { span = 'day' } = route.useSearch();
  return useQuery({
    queryKey: ['get', '/api/admin/price-proposals/{proposalId}/preview', proposalId, span],
    queryFn: async () => {
      const query = span === 'day' ? {} : { from: new Date(Date.now() - SPANS[span]).toISOString() };
      const params = { path: { proposalId }, query };
      return (await api.GET('/api/admin/price-proposals/{proposalId}/preview', { params })).data!;
    },
    ...keepShown,
  });
}

/** Reprices past requests under the proposal with the code that charges them. */
export function ProposalPreview({ proposalId }: { proposalId: string }) {
  const { t } = useTranslation('prices');
  const preview = usePreview(proposalId);
  return (
    <Section title={t('preview.title')} aside={<SpanChoice />}>
      <Hint>{t('preview.about')}</Hint>
      <Loaded query={preview} lines={6}>
        {(found) => (
          <Stack>
            <Totals preview={found} />
            <Rows preview={found} isOld={preview.isPlaceholderData} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function SpanChoice() {
  const { t } = useTranslation('prices');
  const { span = 'day' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('preview.span')}
      value={span}
      onChange={(chosen) =>
        void navigate({ search: chosen === 'day' ? {} : { span: chosen as Span }, replace: true })
      }
      data={optionsOf(spans, t('preview.spans'))}
    />
  );
}

function Totals({ preview }: { preview: Shape<'PricePreview'> }) {
  const { t } = useTranslation('prices');
  const locale = useLocale();
  const { requests, accounts, charged, current, proposed, difference } = preview;
  const facts = [
    { name: t('preview.requests'), value: requests.toLocaleString(locale) },
    { name: t('preview.accounts'), value: accounts.toLocaleString(locale) },
    { name: t('preview.charged'), value: <Money value={charged} /> },
    { name: t('preview.current'), value: <Money value={current} /> },
    { name: t('preview.proposed'), value: <Money value={proposed} /> },
    { name: t('preview.difference'), value: <Revenue row={{ current, proposed, difference }} /> },
  ];
  return (
    <Card withBorder>
      <FactGrid cols={{ base: 2, sm: 3, lg: 6 }} facts={facts} />
      <Text size="xs" c="dimmed" mt="xs" component="div">
        <When at={preview.from} /> – <When at={preview.to} />
      </Text>
    </Card>
  );
}

function Revenue({ row }: { row: Pick<Row, 'current' | 'proposed' | 'difference'> }) {
  return (
    <span>
      <Money value={row.difference} signed />
      {signOf(row.current) > 0 && ` (${changeInPercent(row.current, row.proposed)})`}
    </span>
  );
}

function Rows({ preview, isOld }: { preview: Shape<'PricePreview'>; isOld: boolean }) {
  const { t } = useTranslation('prices');
  return (
    <DataList
      texts={t('preview.list')}
      query={{ ...knownRows(preview.rows), isPlaceholderData: isOld }}
      columns={useColumns()}
      rowKey={({ model, group }) => `${model} ${group}`}
    />
  );
}

function useColumns(): ListColumn<Row>[] {
  const { t } = useTranslation('prices');
  const locale = useLocale();
  const count = (value: number) => value.toLocaleString(locale);
  return [
    column('model', t('columns.model'), ({ model, wouldBeRefused }) => (
      <Stack gap="hair" align="flex-start">
        <span className="model-name">{model}</span>
        {wouldBeRefused && <StatusBadge tone="bad">{t('preview.refused')}</StatusBadge>}
      </Stack>
    )),
    textColumn('group', t('columns.group')),
    rightColumn('requests', t('preview.requests'), ({ requests }) => count(requests)),
    rightColumn('accounts', t('preview.accounts'), ({ accounts }) => count(accounts)),
    moneyColumn('current', t('preview.current')),
    moneyColumn('proposed', t('preview.proposed')),
    rightColumn('difference', t('preview.difference'), (row) => <Revenue row={row} />),
  ];
}
