import { Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { type Shape, useShown } from '../../api/client.js';
import { Who } from '../../shell/who.js';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { column, moneyColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { PageFrame } from '../../ui/page.js';
import { WordsField } from '../../ui/lists/search-field.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { TwoLines } from '../../ui/texts.js';
import { inForceColumn } from '../columns.js';
import { timesOf } from '../utc-days.js';

const kinds = everyWord<Shape<'PriceChange'>['kind']>()('price', 'multiplier', 'rule');

/** Every version of a price, multiplier or group rule, who made it, and what it earned. */
export default function PriceChangesPage() {
  const { t } = useTranslation('reports');
  const { from, to, kind, subject } = useSearch({ from: '/finance/price-changes' });
  const query = { ...timesOf({ from, to }), kind, subject };
  const options = optionsOf(kinds, t('priceChanges.kinds'));
  const changes = useShown('/api/finance/reports/price-changes', { query });
  return (
    <PageFrame title={t('priceChanges.title')} about={t('priceChanges.about')}>
      <Toolbar aside={<CsvLink path="/api/finance/reports/price-changes.csv" query={query} />}>
        <DaysFilter />
        <Choice label={t('priceChanges.kind')} options={options} param="kind" />
        <WordsField label={t('priceChanges.subject')} param="subject" />
      </Toolbar>
      <DataList
        query={rowsOf(changes, (data) => data.versions)}
        columns={useColumns()}
        rowKey={({ kind: what, versionId }) => `${what} ${versionId}`}
        empty={t('priceChanges.empty')}
      />
    </PageFrame>
  );
}

/** Token prices are one string, such as 2.5/1.25/10. */
function valueText(kind: Shape<'PriceChange'>['kind'], value: string, withdrawn: string): string {
  if (value === 'withdrawn') return withdrawn;
  return kind === 'multiplier' ? `× ${value}` : value.replaceAll('/', ' / ');
}

function useColumns(): ListColumn<Shape<'PriceChange'>>[] {
  const { t } = useTranslation('reports');
  const locale = useLocale();
  return [
    inForceColumn(t('priceChanges.from'), {
      always: t('priceChanges.always'),
      until: t('priceChanges.until'),
    }),
    column('subject', t('priceChanges.subject'), ({ kind, subject }) => (
      <TwoLines first={subject} second={t(`priceChanges.kinds.${kind}`)} />
    )),
    rightColumn('value', t('priceChanges.value'), ({ kind, before, value }) =>
      [before, value]
        .filter((each) => each !== null)
        .map((each) => valueText(kind, each, t('priceChanges.withdrawn')))
        .join(' → '),
    ),
    column('by', t('priceChanges.by'), ({ proposal }) =>
      proposal === null ? t('priceChanges.catalog') : <Proposal proposal={proposal} />,
    ),
    rightColumn('charges', t('revenue.charges'), ({ charges }) => exactDecimal(charges, locale)),
    moneyColumn('gross', t('priceChanges.gross')),
  ];
}

/** Why a version was proposed, by whom, and who decided on it. */
function Proposal({ proposal }: { proposal: NonNullable<Shape<'PriceChange'>['proposal']> }) {
  return (
    <Stack gap={0}>
      <Text size="xs">{proposal.note}</Text>
      <Who actor={proposal.proposedBy} />
      {proposal.decidedBy !== null && <Who actor={proposal.decidedBy} />}
    </Stack>
  );
}
