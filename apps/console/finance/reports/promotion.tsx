import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type GetAnswer, useShown } from '../../api/client.js';
import { dayColumn, moneyColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { signOf } from '../../ui/decimal.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { timesOf } from '../utc-days.js';

type Report = GetAnswer<'/api/finance/reports/promotion'>;
type PromotionDay = Report['days'][number];

/** What invites cost: rewards given, clawed back, transferred and used. */
export function Promotion() {
  const { t } = useTranslation('reports');
  const { from, to } = useSearch({ from: '/finance/work' });
  const report = useShown('/api/finance/reports/promotion', { query: timesOf({ from, to }) });
  return (
    <Stack>
      <Toolbar aside={<CsvLink path="/api/finance/reports/promotion.csv" query={timesOf({ from, to })} />}>
        <DaysFilter />
        <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
      </Toolbar>
      <Loaded query={report} lines={4}>
        {(found) => <Totals report={found} />}
      </Loaded>
      <DataList
        query={rowsOf(report, (data) => data.days)}
        columns={useColumns()}
        rowKey="day"
        empty={t('promotion.empty')}
      />
    </Stack>
  );
}

const amounts = ['opening', 'given', 'clawedBack', 'moved', 'closing', 'used', 'issued'] as const;

function Totals({ report }: { report: Report }) {
  const { t } = useTranslation('reports');
  return (
    <Stack>
      <StatusBadge tone={report.ties ? 'good' : 'bad'}>
        {t(report.ties ? 'promotion.ties' : 'promotion.differs')}
      </StatusBadge>
      <Figures>
        {amounts.map((name) => (
          <Figure key={name} name={t(`promotion.${name}`)} value={<Money value={report[name]} />} />
        ))}
        {signOf(report.owed) > 0 && (
          <Figure
            name={t('promotion.owed')}
            value={<Money value={report.owed} />}
            hint={t('promotion.owedHint')}
          />
        )}
      </Figures>
    </Stack>
  );
}

function useColumns(): ListColumn<PromotionDay>[] {
  const { t } = useTranslation('reports');
  const moves = ['given', 'clawedBack', 'moved', 'used'] as const;
  return [
    dayColumn('day', t('dimensions.day')),
    ...moves.map((name) => moneyColumn(name, t(`promotion.${name}`))),
  ];
}
