import { Card, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Switch } from '../lists/choice.js';
import { EmptyState } from '../states.js';
import { SmallPrint } from '../texts.js';
import type { ChartSeries } from './chart-props.js';
import { Chart } from './chart.js';
import { useChangeText } from './change.js';
import {
  BEFORE,
  type Drawn,
  hasOthers,
  namedSubjects,
  OTHERS,
  stepValues,
  SUBJECT_COLORS,
  type SubjectSteps,
} from './subject-series.js';

/** What a chart can be split by. */
export type SubjectName = 'model' | 'key' | 'group' | 'family' | 'channel';

/** What a chart can show. */
export interface Metric<Totals, Name extends string> extends Drawn<Totals> {
  name: Name;
  label: string;
  /** Writes a value exactly, with its unit. */
  text: (value: string) => string;
}

interface MetricChartProps<Totals, Name extends string, By extends SubjectName> {
  chart: SubjectSteps<Totals>;
  metrics: readonly Metric<Totals, Name>[];
  show: Name;
  setShow: (name: Name) => void;
  subjects: readonly By[];
  by: By;
  setBy: (by: By) => void;
  /** The label of a step, by its place. */
  at: (place: number) => string;
  nameOf: (subject: string) => string;
  /** Opens the details of a step, by its place. */
  choosePoint: (place: number) => void;
  /** Limits the page to some steps, by their places; undefined if the address cannot express them. */
  chooseRange: ((first: number, last: number) => void) | undefined;
  /** Opens the details of a subject; undefined if it has none. */
  chooseSubject: (subject: string) => (() => void) | undefined;
  /** Shows the total and its change, if the page does not. */
  withTotal?: boolean;
  hint: string;
  /** Shown if there is nothing to draw. */
  empty: { title: string; hint: string } | null;
}

/** A metric over time, stacked by its parts and compared with the period before. Use it for all such charts. */
export function MetricChart<Totals, Name extends string, By extends SubjectName>(
  props: MetricChartProps<Totals, Name, By>,
) {
  const { withTotal = false, hint, empty } = props;
  return (
    <Card withBorder>
      <Stack>
        <Choices {...props} />
        {empty ? (
          <EmptyState {...empty} />
        ) : (
          <>
            {withTotal && <Total {...props} />}
            <Drawing {...props} />
            <SmallPrint>{hint}</SmallPrint>
          </>
        )}
      </Stack>
    </Card>
  );
}

function Choices<Totals, Name extends string, By extends SubjectName>(
  props: MetricChartProps<Totals, Name, By>,
) {
  const { t } = useTranslation('charts');
  const { metrics, show, setShow, subjects, by, setBy } = props;
  const labelOf = (name: SubjectName) => t(`bySubject.${name}`);
  return (
    <Group justify="space-between">
      <Switch
        label={t('show')}
        options={metrics.map(({ name, label }) => ({ value: name, label }))}
        value={show}
        set={setShow}
      />
      <Switch
        label={t('by')}
        options={subjects.map((value) => ({ value, label: labelOf(value) }))}
        value={by}
        set={setBy}
      />
    </Group>
  );
}

function shownMetric<Totals, Name extends string>(
  metrics: readonly Metric<Totals, Name>[],
  show: Name,
): Metric<Totals, Name> {
  return metrics.find(({ name }) => name === show) ?? metrics[0]!;
}

/** The total, and its change. */
function Total<Totals, Name extends string, By extends SubjectName>({
  chart: { total, before },
  metrics,
  show,
}: MetricChartProps<Totals, Name, By>) {
  const change = useChangeText();
  const { label, valueOf, text } = shownMetric(metrics, show);
  const value = valueOf(total);
  if (value === null) return null;
  const earlier = before === null ? null : valueOf(before);
  return (
    <Text size="sm">
      {label}{' '}
      <Text span inherit fw={600} className="money">
        {text(value)}
      </Text>{' '}
      {earlier !== null && (
        <Text span size="xs" c="dimmed">
          {change(Number(value), Number(earlier))}
        </Text>
      )}
    </Text>
  );
}

function Drawing<Totals, Name extends string, By extends SubjectName>(
  props: MetricChartProps<Totals, Name, By>,
) {
  const { t } = useTranslation('charts');
  const { chart, metrics, show, by, at, choosePoint, chooseRange, chooseSubject } = props;
  const metric = shownMetric(metrics, show);
  const names = namedSubjects(chart);
  const subjectOf = (name: SubjectName) => t(`subjects.${name}`);
  return (
    <Chart
      kind={metric.isAverage ? 'line' : 'stacked-bar'}
      label={t('label', { metric: metric.label, by: subjectOf(by) })}
      points={chart.points.map((point, place) => ({
        at: at(place),
        values: stepValues(point, names, metric),
      }))}
      series={useSeries(props, metric)}
      text={metric.text}
      choosePoint={choosePoint}
      chooseRange={chooseRange}
      seriesAction={(name) => (name === BEFORE || name === OTHERS ? undefined : chooseSubject(name))}
    />
  );
}

function useSeries<Totals, Name extends string, By extends SubjectName>(
  { chart, nameOf }: MetricChartProps<Totals, Name, By>,
  { isAverage = false }: Drawn<Totals>,
): ChartSeries[] {
  const { t } = useTranslation('charts');
  const named = namedSubjects(chart).map((name, place) => ({
    name,
    label: nameOf(name),
    color: SUBJECT_COLORS[place]!,
  }));
  const others = { name: OTHERS, label: t('others'), color: 'gray.5' };
  const before = { name: BEFORE, label: t('before'), color: 'gray.6', isBefore: true };
  return [
    ...named,
    ...(!isAverage && hasOthers(chart) ? [others] : []),
    ...(chart.before === null ? [] : [before]),
  ];
}
