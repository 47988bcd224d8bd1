import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime, millisToHrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from '../metrics.js';

type PrometheusMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type Value = PrometheusMetric['values'][number] & { metricName?: string };

/** Reads the metrics that Prometheus reads, under the same names. */
export class RegistryProducer implements MetricProducer {
  private readonly startTime = millisToHrTime(Math.round(performance.timeOrigin));

  constructor(private readonly registry: Registry) {}

  async collect(): Promise<CollectionResult> {
    const found = await this.registry.getMetricsAsJSON();
    const endTime = hrTime();
    const metrics = found.flatMap((metric) => this.dataOf(metric, endTime) ?? []);
    const scopeMetrics = [{ scope: { name: 'tollgate' }, metrics }];
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
  }

  private dataOf(metric: PrometheusMetric, endTime: HrTime): MetricData | undefined {
    const { name, help: description, values } = metric;
    const base = {
      descriptor: { name, description, unit: '', valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    const point = <T>(attributes: Value['labels'], value: T) => {
      return { startTime: this.startTime, endTime, attributes: present(attributes), value };
    };
    const dataPoints = () => values.map(({ labels, value }) => point(labels, value));
    // The types say that this is a number of an enumeration; it is the word.
    switch (String(metric.type)) {
      case 'counter':
        return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: dataPoints() };
      case 'gauge':
        return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: dataPoints() };
      case 'histogram': {
        const series = [...seriesOf(values)].map(([, each]) => point(each.labels, histogramOf(each)));
        return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: series };
      }
      default:
        return undefined;
    }
  }
}

/** One combination of labels of a histogram: how many values were at most each bound, their sum and number. */
interface Series {
  labels: Value['labels'];
  upTo: Map<number, number>;
  sum: number;
  count: number;
}

function seriesOf(values: readonly Value[]): Map<string, Series> {
  const series = new Map<string, Series>();
  for (const { labels, value, metricName = '' } of values) {
    const { le, ...own } = labels as Record<string, string | number>;
    const key = JSON.stringify(Object.entries(own).sort());
    const one = series.get(key) ?? { labels: own, upTo: new Map(), sum: 0, count: 0 };
    series.set(key, one);
    if (metricName.endsWith('_sum')) one.sum = value;
    else if (metricName.endsWith('_count')) one.count = value;
    else if (le !== '+Inf') one.upTo.set(Number(le), value);
  }
  return series;
}

/** Prometheus counts what is at most a bound; OTLP what lies between two. */
function histogramOf({ upTo, sum, count }: Series): Histogram {
  const bounds = [...upTo].sort(([a], [b]) => a - b);
  const cumulative = [...bounds.map(([, below]) => below), count];
  return {
    buckets: {
      boundaries: bounds.map(([bound]) => bound),
      counts: cumulative.map((below, index) => below - (cumulative[index - 1] ?? 0)),
    },
    sum,
    count,
  };
}

function present(labels: Value['labels']): Record<string, string | number> {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | number
  >;
}
