import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Pool } from 'pg';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';
import type { Registry } from '#platform/metrics.js';
import { MetricsWindow } from '#platform/metrics-window.js';
import { version } from '#platform/version.js';
import type { Producer } from './outbox.js';

/** Rates and latencies cover the last minute, or the time since the program started if that is shorter. */
interface Pace {
  perSecond: number;
  /** The count per outcome, such as `2xx` or `handled`. */
  outcomes: Record<string, number>;
  p50Ms: number | null;
  p99Ms: number | null;
}

/** The state that every program reports. */
export interface CommonReport {
  /** Bus messages handled. */
  messages: Pace;
  /** Messages waiting for a consumer group, summed over its partitions. */
  lag: { topic: string; group: string; messages: number }[];
  /** Its rows in the outbox. Of several instances, one knows. */
  outbox: { rows: number; oldestSeconds: number } | null;
  memoryBytes: number;
}

/** What a program has. */
interface Reporting {
  pool: Pool;
  registry: Registry;
  log: Logger;
}

export interface ProgramReporterParts {
  program: Producer | 'control-plane';
  intervalMs: number;
  /** The consumer groups that the program is. */
  groups: readonly string[];
  /** The metrics that `measure` reads. */
  metrics: readonly string[];
  /** What only this program reports. */
  measure: (window: MetricsWindow) => object | Promise<object>;
}

const COMMON = [
  'bus_messages_total',
  'bus_handle_seconds',
  'bus_consumer_lag',
  'outbox_rows',
  'outbox_oldest_seconds',
];
/** A dead program no longer reports. After this time it is dropped. */
const FORGOTTEN_AFTER = '1 hour';

/**
 * Stores the state of a program every few seconds for the status page: the registry of one process is not visible from another.
 */
export class ProgramReporter extends Looping {
  private readonly window: MetricsWindow;
  private readonly startedAt = new Date();
  private readonly instance = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`.slice(-100);

  constructor(
    private readonly host: Reporting,
    private readonly parts: ProgramReporterParts,
  ) {
    const { registry, log } = host;
    const { metrics, intervalMs, program } = parts;
    super({ name: `report of ${program}`, intervalMs, log });
    this.window = new MetricsWindow(registry, [...COMMON, ...metrics]);
  }

  /** A program that shuts down in order is not reported as missing. */
  override async stop(): Promise<void> {
    await super.stop();
    const { pool, log } = this.host;
    const { program } = this.parts;
    await pool
      .query('DELETE FROM program_reports WHERE program = $1 AND instance = $2', [program, this.instance])
      .catch((error: unknown) =>
        log.warn({ err: error }, 'the last report of a program could not be removed and stays for a while'),
      );
  }

  protected async round(): Promise<void> {
    const { program, measure } = this.parts;
    await this.window.sample();
    const report = { ...this.common(), ...(await measure(this.window)) };
    await this.host.pool.query(
      `INSERT INTO program_reports (program, instance, version, host, started_at, report)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (program, instance)
       DO UPDATE SET reported_at = now(), report = excluded.report`,
      [program, this.instance, version, hostname(), this.startedAt, JSON.stringify(report)],
    );
    await this.host.pool.query(
      `DELETE FROM program_reports WHERE program = $1 AND reported_at < now() - interval '${FORGOTTEN_AFTER}'`,
      [program],
    );
  }

  private common(): CommonReport {
    const { window } = this;
    const { groups, program } = this.parts;
    const lag = groups.flatMap((group) =>
      [...window.valuesBy('bus_consumer_lag', 'topic', { group })].map(([topic, messages]) => ({
        topic,
        group,
        messages,
      })),
    );
    const hasOutbox = window.valuesBy('outbox_rows', 'producer').has(program);
    const producer = { producer: program };
    return {
      messages: this.messages(),
      lag: lag.sort((a, b) => b.messages - a.messages || (a.topic < b.topic ? -1 : 1)),
      outbox: hasOutbox
        ? {
            rows: window.value('outbox_rows', producer),
            oldestSeconds: window.value('outbox_oldest_seconds', producer),
          }
        : null,
      memoryBytes: process.memoryUsage.rss(),
    };
  }

  /** Of its own groups: in one process the programs share a registry. */
  private messages(): Pace {
    const { window } = this;
    const { groups } = this.parts;
    const outcomes = new Map<string, number>();
    for (const group of groups)
      for (const [outcome, count] of window.increaseBy('bus_messages_total', 'outcome', { group }))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count);
    const count = groups.reduce((sum, group) => sum + window.increase('bus_messages_total', { group }), 0);
    const isSilent = groups.length === 0;
    return {
      perSecond: rounded(window.seconds() > 0 ? count / window.seconds() : 0),
      outcomes: Object.fromEntries(outcomes),
      p50Ms: isSilent ? null : window.quantileMs('bus_handle_seconds', 0.5),
      p99Ms: isSilent ? null : window.quantileMs('bus_handle_seconds', 0.99),
    };
  }
}

/** The pace of answers that a counter has by their status, and a histogram by their time. */
export function paceOf(
  window: MetricsWindow,
  { counter, label, histogram }: { counter: string; label: string; histogram: string | null },
): Pace {
  const outcomes: Record<string, number> = {};
  for (const [value, count] of window.increaseBy(counter, label)) {
    const name = /^[1-5]\d\d$/.test(value) ? `${value[0]}xx` : value;
    outcomes[name] = (outcomes[name] ?? 0) + count;
  }
  return {
    perSecond: rounded(window.perSecond(counter)),
    outcomes,
    p50Ms: histogram === null ? null : window.quantileMs(histogram, 0.5),
    p99Ms: histogram === null ? null : window.quantileMs(histogram, 0.99),
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
