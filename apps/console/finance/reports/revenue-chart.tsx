import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { useChangeText } from '../../ui/charts/change.js';
import { MetricChart } from '../../ui/charts/metric-chart.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { Money } from '../../ui/money.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { useShortDay } from '../../ui/time/when.js';
import { addDays, type DaySpan, daysUntil } from '../utc-days.js';
import { useRevenueMetrics, useWorkName } from './revenue-metrics.js';
import { type Basis, basisOf, type RevenueMetric, type WorkSubject, workSubjects } from './revenue.js';

/** As the server has it. */
const MOST_DAYS = 366;

interface RevenueChartProps {
  days: Required<DaySpan>;
  show: RevenueMetric;
  by: WorkSubject;
  /** One model, type, group or channel alone. */
  filter?: Partial<Record<WorkSubject, string>>;
  set: (change: { show: RevenueMetric } | { by: WorkSubject }) => void;
  chooseDay: (day: string) => void;
  chooseDays: (days: Required<DaySpan>) => void;
  chooseSubject: (by: WorkSubject, subject: string) => void;
  /** The main figures beside those of the period before, where the page has no others. */
  withFigures?: boolean;
}

/** Credits, counts or money day by day, stacked by what they are made of, beside the days before. */
export function RevenueChart(props: RevenueChartProps) {
  const { t } = useTranslation('charts');
  const { from, to } = props.days;
  if (to < from || to >= addDays(from, MOST_DAYS))
    return <EmptyState title={t('tooLong')} hint={t('tooLongHint')} />;
  return <Asked {...props} />;
}

function Asked(props: RevenueChartProps) {
  const { days, show, filter = {}, withFigures = false } = props;
  // Recognised money is posted by type, so it is stacked by nothing else.
  const by = show === 'recognised' || show === 'margin' ? 'family' : props.by;
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

type Charted = Shape<'RevenueChart'>;

function Drawn({ chart, ...props }: RevenueChartProps & { chart: Charted }) {
  const { t } = useTranslation('charts');
  const { show, by, set, chooseDay, chooseDays, chooseSubject, withFigures = false } = props;
  const metrics = useRevenueMetrics(chart.currency, basisOf(show));
  const shortDay = useShortDay();
  const isOfMoney = show === 'recognised' || show === 'margin';
  return (
    <MetricChart
      chart={chart}
      metrics={metrics}
      show={show}
      setShow={(name) => set({ show: name })}
      subjects={isOfMoney ? ['family'] : workSubjects}
      by={by}
      setBy={(name) => set({ by: name })}
      at={(place) => shortDay(chart.points[place]!.day)}
      nameOf={useWorkName(by)}
      choosePoint={(place) => chooseDay(chart.points[place]!.day)}
      chooseRange={(first, last) =>
        chooseDays({ from: chart.points[first]!.day, to: chart.points[last]!.day })
      }
      chooseSubject={(subject) => (subject === '' ? undefined : () => chooseSubject(by, subject))}
      withTotal={!withFigures}
      hint={t('daysHint')}
      empty={useEmpty(chart, show)}
    />
  );
}

/** What to say where there is nothing to draw. */
function useEmpty({ total, before }: Charted, show: RevenueMetric): { title: string; hint: string } | null {
  const { t } = useTranslation('charts');
  const { t: ofReports } = useTranslation('reports');
  if (show === 'recognised' || show === 'margin') {
    if (total.recognised === null) return { title: t('byTypeOnly'), hint: t('byTypeOnlyHint') };
    if (total[show] === null) return { title: ofReports('revenue.noMargin'), hint: t('byTypeOnlyHint') };
  }
  const hasWork = [total, before].some(
    ({ charges, failedCharges, recognised }) =>
      charges > 0 || failedCharges > 0 || Number(recognised ?? 0) !== 0,
  );
  return hasWork ? null : { title: t('nothing'), hint: t('nothingHint') };
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
            value={unit === null ? text(value) : <Money value={value} currency={unit} short />}
            hint={change(Number(value), Number(earlier))}
          />
        );
      })}
    </Figures>
  );
}
