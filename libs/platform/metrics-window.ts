import type { Registry } from './metrics.js';

type Labels = Readonly<Record<string, string | number | undefined>>;

interface Value {
  /** `name_bucket`, `name_sum` or `name_count` of a histogram, else nothing. */
  readonly metricName?: string | undefined;
  readonly labels: Labels;
  readonly value: number;
}

interface Sample {
  readonly atMs: number;
  readonly values: ReadonlyMap<string, readonly Value[]>;
}

/**
 * What a program's metrics did of late: rates and latencies of the last minute, from the counters that also leave by
 * /metrics. Call `sample` at intervals; before the second one nothing is known.
 */
export class MetricsWindow {
  private samples: Sample[] = [];

  constructor(
    private readonly registry: Registry,
    /** The metrics that are looked at. */
    private readonly names: readonly string[],
    private readonly lengthMs = 60_000,
  ) {}

  async sample(): Promise<void> {
    const values = new Map<string, readonly Value[]>();
    for (const name of this.names) {
      const metric = await this.registry.getSingleMetric(name)?.get();
      // A metric hands out what it goes on counting with.
      values.set(
        name,
        (metric?.values ?? []).map((each) => ({ ...each })),
      );
    }
    const atMs = performance.now();
    // The newest of those that are a window old is where the window begins.
    const begin = this.samples.findLastIndex((each) => each.atMs <= atMs - this.lengthMs);
    this.samples = [...this.samples.slice(Math.max(0, begin)), { atMs, values }];
  }

  /** How far back the window reaches now, seconds. */
  seconds(): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    return first && last ? (last.atMs - first.atMs) / 1000 : 0;
  }

  /** What a gauge shows, or a counter has come to: the sum of what has these labels. */
  value(name: string, labels: Labels = {}): number {
    return sum(matching(this.samples.at(-1), name, labels));
  }

  /** What a gauge shows by each value of a label. */
  valuesBy(name: string, label: string, labels: Labels = {}): Map<string, number> {
    return by(matching(this.samples.at(-1), name, labels), label);
  }

  /** By how much a counter grew in the window. */
  increase(name: string, labels: Labels = {}): number {
    return this.value(name, labels) - sum(matching(this.samples[0], name, labels));
  }

  /** The same by each value of a label; those that did not grow are left out. */
  increaseBy(name: string, label: string, labels: Labels = {}): Map<string, number> {
    const before = by(matching(this.samples[0], name, labels), label);
    const grown = [...this.valuesBy(name, label, labels)].map(([key, value]): [string, number] => [
      key,
      value - (before.get(key) ?? 0),
    ]);
    return new Map(grown.filter(([, value]) => value > 0));
  }

  perSecond(name: string): number {
    const seconds = this.seconds();
    return seconds > 0 ? this.increase(name) / seconds : 0;
  }

  /** A quantile of a histogram of seconds within the window, in milliseconds; null when nothing was observed. */
  quantileMs(name: string, quantile: number, labels: Labels = {}): number | null {
    const first = by(buckets(this.samples[0], name, labels), 'le');
    const counts = [...by(buckets(this.samples.at(-1), name, labels), 'le')]
      .map(([le, value]) => ({
        upTo: le === '+Inf' ? Infinity : Number(le),
        count: value - (first.get(le) ?? 0),
      }))
      .sort((a, b) => a.upTo - b.upTo);
    const total = counts.at(-1)?.count ?? 0;
    if (total <= 0) return null;
    const wanted = quantile * total;
    const at = counts.findIndex(({ count }) => count >= wanted);
    const below = counts[at - 1] ?? { upTo: 0, count: 0 };
    const bucket = counts[at]!;
    // Beyond the last bound nothing is known but that it is beyond.
    if (bucket.upTo === Infinity) return Math.round(below.upTo * 1000);
    const share = (wanted - below.count) / (bucket.count - below.count);
    return Math.round((below.upTo + share * (bucket.upTo - below.upTo)) * 100_000) / 100;
  }
}

function matching(sample: Sample | undefined, name: string, labels: Labels): Value[] {
  return (sample?.values.get(name) ?? [])
    .filter((each) => each.metricName === undefined || each.metricName === name)
    .filter(hasLabels(labels));
}

function buckets(sample: Sample | undefined, name: string, labels: Labels): Value[] {
  return (sample?.values.get(name) ?? [])
    .filter(({ metricName }) => metricName === `${name}_bucket`)
    .filter(hasLabels(labels));
}

function hasLabels(labels: Labels): (value: Value) => boolean {
  return (value) => Object.entries(labels).every(([name, wanted]) => value.labels[name] === wanted);
}

function by(values: readonly Value[], label: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of values) {
    const key = String(labels[label] ?? '');
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}

function sum(values: readonly Value[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}
