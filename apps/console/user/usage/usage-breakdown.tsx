import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useDurationText } from '../../ui/time/duration.js';
import { useChange } from '../../ui/charts/change.js';
import { Sparkline } from '../../ui/charts/sparkline.js';
import { subjectValues } from '../../ui/charts/subject-series.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { NONE } from '../../ui/lists/phone-row.js';
import { TextLink } from '../../ui/links.js';
import { useLocale, usePercent } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { logOf } from '../logs/log-search.js';
import { narrowedTo, useSubjectName } from './usage-subjects.js';
import type { UsageSubject } from './usage-search.js';

type Row = Shape<'UsageChart'>['subjects'][number];

const route = getRouteApi('/user/usage');

/** A name narrows the page to it. */
export function UsageBreakdown({ chart }: { chart: Shape<'UsageChart'> }) {
  const { t } = useTranslation('calls');
  const { by = 'model' } = route.useSearch();
  return (
    <DataList
      texts={t('usage.list')}
      query={knownRows(chart.subjects)}
      columns={useColumns(by, chart)}
      rowKey={({ subject }) => subject ?? 'others '}
    />
  );
}

function useColumns(by: UsageSubject, chart: Shape<'UsageChart'>): ListColumn<Row>[] {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const change = useChange();
  const duration = useDurationText();
  const percent = usePercent();
  const total = Number(chart.total.spent);
  const shareOf = (spent: string) => (total === 0 ? NONE : percent(Number(spent) / total));
  const changeOf = ({ spent, before }: Row) => before && change(Number(spent), Number(before.spent));
  return [
    column('subject', t(`subjects.${by}`, { ns: 'charts' }), ({ subject }) => (
      <Subject by={by} subject={subject} />
    )),
    rightColumn('spent', t('usage.metrics.spent'), (row) => <Spent row={row} chart={chart} />),
    rightColumn('share', t('usage.share'), ({ spent }) => shareOf(spent)),
    rightColumn('change', t('usage.changeColumn'), (row) => changeOf(row) ?? NONE),
    rightColumn('requests', t('usage.metrics.requests'), ({ subject, requests }) => (
      <Requests by={by} subject={subject} count={requests.toLocaleString(locale)} />
    )),
    rightColumn('failures', t('usage.metrics.failures'), ({ failures }) => failures.toLocaleString(locale)),
    rightColumn('latency', t('usage.metrics.latency'), ({ latencyMs }) =>
      latencyMs === null ? NONE : duration(latencyMs),
    ),
  ];
}

function Spent({ row: { subject, spent }, chart }: { row: Row; chart: Shape<'UsageChart'> }) {
  return (
    <Sparkline values={subjectValues(chart, subject, (totals) => totals.spent)}>
      <Money aligned value={spent} />
    </Sparkline>
  );
}

function Subject({ by, subject }: { by: UsageSubject; subject: string | null }) {
  const name = useSubjectName(by)(subject);
  const narrowed = narrowedTo(by, subject);
  if (narrowed === null) return name;
  const search = (before: object) => ({ ...before, ...narrowed });
  return (
    <TextLink to="/usage" search={search} resetScroll={false} className="model-name">
      {name}
    </TextLink>
  );
}

function Requests({ by, subject, count }: { by: UsageSubject; subject: string | null; count: string }) {
  const search = route.useSearch();
  const narrowed = narrowedTo(by, subject);
  if (narrowed === null) return count;
  return (
    <TextLink to="/logs" search={logOf({ ...search, ...narrowed })} size="sm">
      {count}
    </TextLink>
  );
}
