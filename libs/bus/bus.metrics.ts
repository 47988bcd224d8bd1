import { Gauge, Metrics, type Registry } from '#platform/metrics.js';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BY_TOPIC = { labelNames: ['topic' as const], buckets: BUCKETS_SECONDS };

/** The bus's metrics in a program's registry. Programs that share a process and registry share them too. */
export class BusMetrics extends Metrics {
  /** outcome: handled, retried, dead (kept as a dead letter), rejected (answered with an error). */
  readonly messages = this.counter('bus_messages_total', 'Messages consumed, by outcome.', [
    'topic',
    'group',
    'outcome',
  ]);
  readonly handleSeconds = this.latency('bus_handle_seconds', 'Time in a handler.', BY_TOPIC);
  readonly requestSeconds = this.latency(
    'bus_request_seconds',
    'Time until a request was answered.',
    BY_TOPIC,
  );
  readonly requestTimeouts = this.counter(
    'bus_request_timeouts_total',
    'Requests without an answer in time.',
    ['topic'],
  );
  readonly outboxRows = this.gauge('outbox_rows', 'Rows waiting in the outbox.', ['producer']);
  readonly outboxOldestSeconds = this.gauge('outbox_oldest_seconds', 'Age of the oldest row in the outbox.', [
    'producer',
  ]);
  readonly outboxPublished = this.counter('outbox_published_total', 'Rows published from the outbox.', [
    'producer',
  ]);
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
