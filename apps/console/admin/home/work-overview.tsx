import { getRouteApi, linkOptions, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { useWorkName } from '../../finance/reports/revenue-metrics.js';
import { type WorkSubject, workSubjects } from '../../finance/reports/revenue.js';
import { addDays, type DaySpan, daysUntil } from '../../finance/utc-days.js';
import { useFilter } from '../../ui/address.js';
import { useChange } from '../../ui/charts/change.js';
import { type Metric, MetricChart } from '../../ui/charts/metric-chart.js';
import { Sparkline } from '../../ui/charts/sparkline.js';
import { subjectValues } from '../../ui/charts/subject-series.js';
import { column, moneyColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { useLocale, usePercent } from '../../ui/locale.js';
import { useMoneyText } from '../../ui/money.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { useShortDay } from '../../ui/time/when.js';

type Work = Shape<'WorkChart'>;
type Row = Work['subjects'][number];

const route = getRouteApi('/admin/');
/** As the server has it. */
const MOST_DAYS = 366;

function isEmpty({ charges, failedCharges }: Shape<'WorkSums'>): boolean {
  return charges + failedCharges === 0;
}

export function WorkOverview({ days }: { days: Required<DaySpan> }) {
  const { t } = useTranslation('charts');
  const { from, to } = days;
  if (to < from || to >= addDays(from, MOST_DAYS)) return <EmptyState {...t('tooLong')} />;
  return <Asked days={days} />;
}

function Asked({ days }: { days: Required<DaySpan> }) {
  const { by = 'model' } = route.useSearch();
  return (
    <Loaded query={useShown('/api/admin/workload/chart', { query: { ...daysUntil(days), by } })} lines={14}>
      {(found) => (
        <>
          <Drawn work={found} />
          {!isEmpty(found.total) && <Breakdown work={found} />}
        </>
      )}
    </Loaded>
  );
}

/** A bar narrows the page to its day; a name leads to its own page. */
function usePlaces({ points }: Work) {
  const { by = 'model' } = route.useSearch();
  const set = useFilter({ replace: false });
  const navigate = useNavigate();
  const chooseDays = (first: number, last = first) =>
    set({ from: points[first]!.day, to: points[last]!.day });
  return {
    choosePoint: (place: number) => chooseDays(place),
    chooseRange: chooseDays,
    chooseSubject: (subject: string) => {
      const place = placeOf(by, subject);
      return place && (() => void navigate(place));
    },
  };
}

function Drawn({ work }: { work: Work }) {
  const { t } = useTranslation('charts');
  const { by = 'model', show = 'charges' } = route.useSearch();
  const set = useFilter({ replace: false });
  const shortDay = useShortDay();
  const isNothing = [work.total, work.before].every(isEmpty);
  return (
    <MetricChart
      chart={work}
      metrics={useMetrics()}
      show={show}
      setShow={(name) => set({ show: name === 'charges' ? undefined : name })}
      subjects={workSubjects}
      by={by}
      setBy={(name) => set({ by: name === 'model' ? undefined : name })}
      at={(place) => shortDay(work.points[place]!.day)}
      nameOf={useWorkName(by)}
      {...usePlaces(work)}
      withTotal
      hint={t('dayHint')}
      empty={isNothing ? t('nothing') : null}
    />
  );
}

function useMetrics(): Metric<Shape<'WorkSums'>, 'charges' | 'failedCharges' | 'net'>[] {
  const { t } = useTranslation('charts');
  const locale = useLocale();
  const credits = useMoneyText();
  const text = (value: string) => Number(value).toLocaleString(locale);
  return (['charges', 'failedCharges', 'net'] as const).map((name) => ({
    name,
    label: t(`metrics.${name}`),
    valueOf: (sums: Shape<'WorkSums'>) => String(sums[name]),
    text: name === 'net' ? credits : text,
  }));
}

function Breakdown({ work }: { work: Work }) {
  const { t } = useTranslation('charts');
  const { by = 'model' } = route.useSearch();
  return (
    <DataList
      label={t('breakdown')}
      query={knownRows(work.subjects)}
      columns={useColumns(by, work)}
      rowKey={({ subject }) => subject ?? 'others '}
      empty={t('nothing')}
    />
  );
}

function useColumns(by: WorkSubject, work: Work): ListColumn<Row>[] {
  const { t } = useTranslation('charts');
  const locale = useLocale();
  const change = useChange();
  const percent = usePercent();
  return [
    column('subject', t(`subjects.${by}`), ({ subject }) => <Subject by={by} subject={subject} />),
    rightColumn('charges', t('metrics.charges'), ({ subject, charges }) => (
      <Sparkline values={subjectValues(work, subject, (sums) => String(sums.charges))}>
        {charges.toLocaleString(locale)}
      </Sparkline>
    )),
    rightColumn('change', t('changeColumn'), ({ charges, before }) => change(charges, before.charges) ?? '–'),
    rightColumn('failures', t('metrics.failedCharges'), ({ subject, failedCharges }) => (
      <Sparkline values={subjectValues(work, subject, (sums) => String(sums.failedCharges))} tone="bad">
        {failedCharges.toLocaleString(locale)}
      </Sparkline>
    )),
    rightColumn('rate', t('failureRate'), ({ charges, failedCharges }) =>
      charges + failedCharges === 0 ? '–' : percent(failedCharges / (charges + failedCharges)),
    ),
    moneyColumn('net', t('metrics.net')),
  ];
}

/** The page of a model, group or channel, if there is one. */
function placeOf(by: WorkSubject, subject: string | null) {
  if (subject === null || subject === '' || by === 'family') return undefined;
  if (by === 'channel')
    return linkOptions({ to: '/admin/channels/$channelId', params: { channelId: subject } });
  if (by === 'group') return linkOptions({ to: '/admin/groups', search: { group: subject } });
  return linkOptions({ to: '/admin/models', search: { model: subject } });
}

function Subject({ by, subject }: { by: WorkSubject; subject: string | null }) {
  const name = useWorkName(by)(subject);
  const place = placeOf(by, subject);
  if (!place) return name;
  return (
    <TextLink {...place} className="model-name">
      {name}
    </TextLink>
  );
}
