import { Counter, Gauge, LatencyHistogram, type Registry } from '#platform/metrics.js';

const HANDLE_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The bus's metrics in a program's registry. Programs that share a process and registry share them too. */
export class BusMetrics {
  /** outcome: handled, retried, dead (kept as a dead letter), rejected (answered with an error). */
  readonly messages: Counter<'topic' | 'group' | 'outcome'>;
  readonly handleSeconds: LatencyHistogram<'topic'>;
  readonly requestSeconds: LatencyHistogram<'topic'>;
  readonly requestTimeouts: Counter<'topic'>;
  readonly outboxRows: Gauge<'producer'>;
  readonly outboxOldestSeconds: Gauge<'producer'>;
  readonly outboxPublished: Counter<'producer'>;

  constructor(registry: Registry) {
    const { counter, gauge, histogram } = makersOf(registry);
    this.messages = counter('bus_messages_total', 'Messages consumed, by outcome.', [
      'topic',
      'group',
      'outcome',
    ]);
    this.handleSeconds = histogram('bus_handle_seconds', 'Time in a handler.', ['topic']);
    this.requestSeconds = histogram('bus_request_seconds', 'Time until a request was answered.', ['topic']);
    this.requestTimeouts = counter('bus_request_timeouts_total', 'Requests without an answer in time.', [
      'topic',
    ]);
    this.outboxRows = gauge('outbox_rows', 'Rows waiting in the outbox.', ['producer']);
    this.outboxOldestSeconds = gauge('outbox_oldest_seconds', 'Age of the oldest row in the outbox.', [
      'producer',
    ]);
    this.outboxPublished = counter('outbox_published_total', 'Rows published from the outbox.', ['producer']);
  }
}

export interface LagOf {
  topic: string;
  group: string;
  partition: number;
}

/** Reads the lag of each partition (messages not yet handled) whenever the metrics are read. */
export function watchLag(
  registry: Registry,
  report: (set: (of: LagOf, messages: number) => void) => void,
): void {
  const name = 'bus_consumer_lag';
  registry.removeSingleMetric(name);
  const lag: Gauge<keyof LagOf> = new Gauge({
    name,
    help: 'Messages waiting to be handled.',
    labelNames: ['topic', 'group', 'partition'],
    registers: [registry],
    collect: () => report((of, messages) => lag.set({ ...of, partition: String(of.partition) }, messages)),
  });
}

/** A second bus of a process shares the metrics of the first. */
function makersOf(registry: Registry) {
  const registers = [registry];
  const once = <M>(name: string, create: () => M): M =>
    (registry.getSingleMetric(name) as M | undefined) ?? create();
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    once(name, () => new Counter({ name, help, labelNames, registers }));
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    once(name, () => new Gauge({ name, help, labelNames, registers }));
  const histogram = <L extends string>(name: string, help: string, labelNames: L[]) =>
    once(
      name,
      () => new LatencyHistogram({ name, help, labelNames, registers, buckets: HANDLE_BUCKETS_SECONDS }),
    );
  return { counter, gauge, histogram };
}
