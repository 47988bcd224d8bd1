import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DayRanges } from '../day-ranges.js';
import { COSTS, exactDecimal, signOf } from '../../ui/decimal.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { ButtonLink, NarrowLink, TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { SmallPrint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallWhen } from '../../ui/time/when.js';
import { type DaySpan, daysUntil, monthOf, today, lastMonth } from '../utc-days.js';
import { RevenueChart } from './revenue-chart.js';
import { useWorkName } from './revenue-metrics.js';
import { RevenueEntries } from './revenue-entries.js';
import { RevenueRows } from './revenue-rows.js';
import { BasisSwitch } from './basis.js';
import { type Basis, basisOf, dimensions, openedBy, type Within, withinOf, workSubjects } from './revenue.js';

const route = getRouteApi('/finance/revenue');
const LONGEST = 5_000;

/** Revenue, cost and margin by UTC day, each figure linked to its entries. */
export default function RevenuePage() {
  const { t } = useTranslation('reports');
  const search = route.useSearch();
  const { by = 'model', show = 'net' } = search;
  const days = { from: search.from ?? monthOf(today()), to: search.to ?? today() };
  const within = withinOf(search.within);
  const query = { ...daysUntil(days), by, limit: LONGEST };
  const revenue = useShown('/api/finance/reports/revenue', { query });
  const priceChanges = (
    <ButtonLink to="/finance/price-changes" variant="default">
      {t('priceChanges.title')}
    </ButtonLink>
  );
  return (
    <PageFrame title={t('revenue.title')} about={t('revenue.about')} actions={priceChanges}>
      <Filters days={days} />
      <Loaded query={revenue} lines={4}>
        {(found) => <Totals revenue={found} basis={basisOf(show)} />}
      </Loaded>
      <Drawing days={days} within={within} />
      <Breakdown days={days} within={within} />
    </PageFrame>
  );
}

function Filters({ days }: { days: Required<DaySpan> }) {
  const { t } = useTranslation('reports');
  const { show = 'net', within } = route.useSearch();
  const set = useFilter();
  return (
    <Group align="flex-end" gap="sm">
      <BasisSwitch show={show} setShow={(chosen) => set({ show: chosen === 'net' ? undefined : chosen })} />
      <DayRanges days={days} set={(chosen) => set({ ...chosen, within: withoutDay(within) })} />
      <ButtonLink to="/finance/revenue" search={lastMonth()} variant="default">
        {t('revenue.lastMonth')}
      </ButtonLink>
      <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
    </Group>
  );
}

interface PartProps {
  days: Required<DaySpan>;
  within: Within | null;
}

/** A bar opens the rows of its day, and a name opens its breakdown. */
function Drawing({ days, within }: PartProps) {
  const { by: listed = 'model', show = 'net' } = route.useSearch();
  const set = useFilter({ replace: false });
  const subject = workSubjects.find((each) => each === within?.dimension);
  return (
    <RevenueChart
      days={days}
      show={show}
      by={workSubjects.find((each) => each === listed) ?? 'model'}
      filter={subject && within ? { [subject]: within.value } : {}}
      set={(change) => {
        if ('show' in change) return set({ show: change.show === 'net' ? undefined : change.show });
        set({ by: change.by === 'model' ? undefined : change.by });
      }}
      chooseDay={(day) => set(openedBy('day', day))}
      chooseDays={set}
      chooseSubject={(by, value) => set(openedBy(by, value))}
    />
  );
}

/** The rows of all days or of an opened one, and the entries behind them. */
function Breakdown({ days, within }: PartProps) {
  const { t } = useTranslation('reports');
  const { by = 'model', show = 'net' } = route.useSearch();
  const isDay = within?.dimension === 'day';
  const listed = isDay ? { from: within.value, to: within.value } : days;
  const asked = [by, ...(within && !isDay && within.dimension !== by ? [within.dimension] : [])];
  const query = { ...daysUntil(listed), by: asked.join(',') };
  const rows = useShown('/api/finance/reports/revenue', { query: { ...query, limit: LONGEST } });
  const file = <CsvLink path="/api/finance/reports/revenue.csv" query={query} />;
  return (
    <>
      <Section title={t('revenue.by')} aside={file}>
        <SwitchFilter param="by" label={t('revenue.by')} options={optionsOf(dimensions, t('dimensions'))} />
        {within && <Opened within={within} />}
        <RevenueRows query={rows} by={by} within={isDay ? null : within} basis={basisOf(show)} />
      </Section>
      <RevenueEntries days={listed} />
    </>
  );
}

/** An opened day does not survive a change of days. */
function withoutDay(within: string | undefined): string | undefined {
  return withinOf(within)?.dimension === 'day' ? undefined : within;
}

function Totals({ revenue, basis }: { revenue: Shape<'Revenue'>; basis: Basis }) {
  return (
    <Stack>
      <Figures>{basis === 'credits' ? <Credits revenue={revenue} /> : <Cash revenue={revenue} />}</Figures>
      <Certainty revenue={revenue} />
    </Stack>
  );
}

function Credits({ revenue: { totals } }: { revenue: Shape<'Revenue'> }) {
  const { t } = useTranslation('reports');
  const locale = useLocale();
  return (
    <>
      <Figure name={t('revenue.net')} value={<Money value={totals.net} short="rounded" />} />
      <Figure name={t('revenue.gross')} value={<Money value={totals.gross} short="rounded" />} />
      <Figure name={t('revenue.refunds')} value={<Money value={totals.refunds} short="rounded" />} />
      <Figure
        name={t('revenue.charges')}
        value={exactDecimal(totals.charges, locale)}
        hint={t('revenue.failedCharges', { value: exactDecimal(totals.failedCharges, locale) })}
      />
    </>
  );
}

function Cash({ revenue }: { revenue: Shape<'Revenue'> }) {
  const { t } = useTranslation('reports');
  const { totals, recognised, currency } = revenue;
  return (
    <>
      <Figure
        name={t('revenue.recognised')}
        value={<Money value={recognised} currency={currency} short="rounded" />}
        hint={t('revenue.recognisedHint')}
      />
      <Cost totals={totals} />
      <Margin revenue={revenue} />
    </>
  );
}

function Cost({ totals }: { totals: Shape<'Revenue'>['totals'] }) {
  const { t } = useTranslation('reports');
  return (
    <Figure
      name={t('revenue.cost')}
      value={<Money value={totals.cost} currency={COSTS} short="rounded" />}
      hint={
        <>
          {t('revenue.failedCost')} <Money value={totals.failedCost} currency={COSTS} />
        </>
      }
    />
  );
}

/** There is no margin if payments and costs have different currencies. */
function Margin({ revenue: { margin, marginPercent, currency } }: { revenue: Shape<'Revenue'> }) {
  const { t } = useTranslation('reports');
  const locale = useLocale();
  if (margin === null) return <Figure name={t('revenue.margin')} value="–" hint={t('revenue.noMargin')} />;
  return (
    <Figure
      name={t('revenue.margin')}
      value={<Money value={margin} currency={currency} short="rounded" />}
      hint={
        marginPercent === null ? '–' : t('revenue.percent', { percent: exactDecimal(marginPercent, locale) })
      }
    />
  );
}

/** Whether the figures match the ledger, up to when, and what they leave out. */
function Certainty({ revenue }: { revenue: Shape<'Revenue'> }) {
  const { t } = useTranslation('reports');
  const { agrees, completeTo, costsTo, unknownCosts, billDifference } = revenue;
  return (
    <>
      <Group gap="sm">
        <StatusBadge tone={agrees ? 'good' : 'bad'}>
          {t(agrees ? 'revenue.agrees' : 'revenue.differs')}
        </StatusBadge>
        <SmallWhen label={t('revenue.completeTo')} at={completeTo} />
        <SmallWhen label={t('revenue.costsTo')} at={costsTo} />
        {signOf(billDifference) !== 0 && (
          <SmallPrint>
            {t('revenue.billDifference')} <Money value={billDifference} currency={COSTS} signed />
          </SmallPrint>
        )}
      </Group>
      {signOf(unknownCosts) > 0 && <UnknownCosts count={unknownCosts} />}
    </>
  );
}

function UnknownCosts({ count }: { count: string }) {
  const { t } = useTranslation('reports');
  const value = exactDecimal(count, useLocale());
  return (
    <Notice tone="warning" title={t('revenue.unknownCosts', { value })}>
      {t('revenue.unknownCostsHint')} <TextLink to="/finance/costs">{t('revenue.toCosts')}</TextLink>
    </Notice>
  );
}

/** What the rows are limited to, and a link to all rows. */
function Opened({ within }: { within: Within }) {
  const { t } = useTranslation('reports');
  const value = useWorkName(within.dimension)(within.value);
  return (
    <Group gap="xs">
      <Text size="sm">{t('revenue.within', { dimension: t(`dimensions.${within.dimension}`), value })}</Text>
      <NarrowLink search={{ within: undefined }} size="sm">
        {t('revenue.all')}
      </NarrowLink>
    </Group>
  );
}
