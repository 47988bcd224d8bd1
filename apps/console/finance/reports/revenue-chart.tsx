import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { useChangeText } from '../../ui/charts/change.js';
import { MetricChart } from '../../ui/charts/metric-chart.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { Money } from '../../ui/money.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { useShortDay } from '../../ui/time/when.js';
import { addDays, type DaySpan, daysUntil } from '../utc-days.js';
import { useRevenueMetrics, useWorkName } from './revenue-metrics.js';
import { type Basis, basisOf, type RevenueMetric, type WorkSubject, workSubjects } from './revenue.js';

/** The server's limit. */
const MOST_DAYS = 366;

interface RevenueChartProps {
  days: Required<DaySpan>;
  show: RevenueMetric;
  by: WorkSubject;
  /** Limits the chart to one model, type, group or channel. */
  filter?: Partial<Record<WorkSubject, string>>;
  set: (change: { show: RevenueMetric } | { by: WorkSubject }) => void;
  chooseDay: (day: string) => void;
  chooseDays: (days: Required<DaySpan>) => void;
  chooseSubject: (by: WorkSubject, subject: string) => void;
  /** Shows the main figures and their change, if the page has no others. */
  withFigures?: boolean;
}

/** Credits, counts or money per day, stacked by their parts and compared with the days before. */
export function RevenueChart(props: RevenueChartProps) {
  const { t } = useTranslation('charts');
  const { from, to } = props.days;
  if (to < from || to >= addDays(from, MOST_DAYS)) return <EmptyState {...t('tooLong')} />;
  return <Asked {...props} />;
}

function Asked(props: RevenueChartProps) {
  const { days, show, filter = {}, withFigures = false } = props;
  // Recognized money is posted by type, so it cannot be split otherwise.
  const by = isOfMoney(show) ? 'family' : props.by;
  const chart = useShown('/api/finance/reports/revenue/chart', {
    query: { ...daysUntil(days), by, ...filter },
  });
  return (
    <Loaded query={chart} lines={12}>
      {(found) => (
        <>
          {withFigures && <Sums chart={found} basis={basisOf(show)} />}
          <Drawn {...props} by={by} chart={found} />
        </>
      )}
    </Loaded>
  );
}

function isOfMoney(show: RevenueMetric): show is 'recognised' | 'margin' {
  return show === 'recognised' || show === 'margin';
}

type Charted = Shape<'RevenueChart'>;

function Drawn({ chart, ...props }: RevenueChartProps & { chart: Charted }) {
  const { t } = useTranslation('charts');
  const { show, by, set, chooseDay, chooseDays, chooseSubject, withFigures = false } = props;
  const shortDay = useShortDay();
  const dayOf = (place: number) => chart.points[place]!.day;
  return (
    <MetricChart
      chart={chart}
      metrics={useRevenueMetrics(chart.currency, basisOf(show))}
      show={show}
      setShow={(name) => set({ show: name })}
      subjects={isOfMoney(show) ? ['family'] : workSubjects}
      by={by}
      setBy={(name) => set({ by: name })}
      at={(place) => shortDay(dayOf(place))}
      nameOf={useWorkName(by)}
      choosePoint={(place) => chooseDay(dayOf(place))}
      chooseRange={(first, last) => chooseDays({ from: dayOf(first), to: dayOf(last) })}
      chooseSubject={(subject) => (subject === '' ? undefined : () => chooseSubject(by, subject))}
      withTotal={!withFigures}
      hint={t('daysHint')}
      empty={useEmpty(chart, show)}
    />
  );
}

/** Shown if there is nothing to draw. */
function useEmpty({ total, before }: Charted, show: RevenueMetric): { title: string; hint: string } | null {
  const { t } = useTranslation('charts');
  const { t: ofReports } = useTranslation('reports');
  if (isOfMoney(show)) {
    if (total.recognised === null) return { title: t('byTypeOnly'), hint: t('byTypeOnlyHint') };
    if (total[show] === null) return { title: ofReports('revenue.noMargin'), hint: t('byTypeOnlyHint') };
  }
  const hasWork = [total, before].some(
    ({ charges, failedCharges, recognised }) =>
      charges > 0 || failedCharges > 0 || Number(recognised ?? 0) !== 0,
  );
  return hasWork ? null : t('nothing');
}

function Sums({ chart: { total, before, currency }, basis }: { chart: Charted; basis: Basis }) {
  const metrics = useRevenueMetrics(currency, basis);
  const change = useChangeText();
  return (
    <Figures>
      {metrics.map(({ name, label, valueOf, text, unit }) => {
        const [value, earlier] = [valueOf(total), valueOf(before)];
        if (value === null || earlier === null) return null;
        return (
          <Figure
            key={name}
            name={label}
            value={unit === null ? text(value) : <Money value={value} currency={unit} short="rounded" />}
            hint={change(Number(value), Number(earlier))}
          />
        );
      })}
    </Figures>
  );
}
