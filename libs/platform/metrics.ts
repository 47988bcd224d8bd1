import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type Metric,
  type OpenMetricsContentType,
  Registry,
} from 'prom-client';
import { loopRecords } from './loop.js';
import { exemplar } from './tracing.js';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds by labels. While tracing is on, each bucket has an exemplar: the trace of the last recorded call in it. */
export class LatencyHistogram<T extends string = string> extends Histogram<T> {
  constructor({ registers = [], ...config }: HistogramConfiguration<T>) {
    // prom-client itself puts exemplars into registries of OpenMetrics only, and such a registry renames its counters.
    super({ ...config, enableExemplars: true, registers: [] });
    for (const registry of registers) registry.registerMetric(this);
  }

  note(labels: LabelValues<T>, seconds: number): void {
    this.observe({ labels, value: seconds, exemplarLabels: exemplar() as LabelValues<T> });
  }

  override startTimer(labels: LabelValues<T>): (labels?: LabelValues<T>) => number {
    return super.startTimer(labels, exemplar() as LabelValues<T>);
  }
}

/** Metrics of one part of a program. Parts of the same kind that share a registry share them. */
export abstract class Metrics {
  constructor(private readonly registry: Registry) {}

  protected counter<T extends string = never>(name: string, help: string, labelNames: T[] = []): Counter<T> {
    return this.once(name, () => new Counter({ name, help, labelNames, registers: [this.registry] }));
  }

  protected gauge<T extends string = never>(name: string, help: string, labelNames: T[] = []): Gauge<T> {
    return this.once(name, () => new Gauge({ name, help, labelNames, registers: [this.registry] }));
  }

  protected histogram(name: string, help: string, buckets: number[]): Histogram<never> {
    return this.once(name, () => new Histogram({ name, help, buckets, registers: [this.registry] }));
  }

  protected latency<T extends string>(
    name: string,
    help: string,
    { labelNames, buckets }: { labelNames: T[]; buckets: number[] },
  ): LatencyHistogram<T> {
    const config = { name, help, labelNames, buckets, registers: [this.registry] };
    return this.once(name, () => new LatencyHistogram(config));
  }

  private once<M>(name: string, create: () => M): M {
    return (this.registry.getSingleMetric(name) as M | undefined) ?? create();
  }
}

/** What a scraper gets, and in which form. */
export interface Scrape {
  type: string;
  text: string;
}

/**
 * The metrics as the scraper reads them by its `accept` header. Only OpenMetrics has exemplars. It has counters without
 * `_total` in their names, and prom-client renames a registry's counters for good: so it gets another registry with the values.
 */
export async function scrapeOf(registry: Registry, accept = ''): Promise<Scrape> {
  if (!accept.includes('application/openmetrics-text'))
    return { type: registry.contentType, text: await registry.metrics() };
  const view = new Registry<OpenMetricsContentType>();
  view.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of await registry.getMetricsAsJSON()) {
    // The types say that this is a number of an enumeration; it is the word.
    const isCounter = String(metric.type) === 'counter';
    const named = isCounter ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric;
    view.registerMetric({ ...named, get: async () => named } as unknown as Metric);
  }
  return { type: view.contentType, text: await view.metrics() };
}

/** A registry of one program, with the process's own metrics in it, those of its loops included. */
export function createRegistry(program: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  measureLoops(registry);
  return registry;
}

function measureLoops(registry: Registry): void {
  const labelled = { labelNames: ['loop'] as const, registers: [registry] };
  new Counter({
    name: 'tollgate_loop_failures_total',
    help: 'Rounds of background loops that failed.',
    ...labelled,
    collect() {
      this.reset();
      for (const [loop, { failures }] of loopRecords) this.inc({ loop }, failures);
    },
  });
  new Gauge({
    name: 'tollgate_loop_last_success_timestamp_seconds',
    help: 'When a round of a background loop last succeeded, or the loop started, Unix seconds.',
    ...labelled,
    collect() {
      for (const [loop, { lastSuccessAtMs }] of loopRecords) this.set({ loop }, lastSuccessAtMs / 1000);
    },
  });
}
