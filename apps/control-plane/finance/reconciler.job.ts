import type pg from 'pg';
import type { OutboxRelay } from '#bus/outbox.js';
import { controls } from '#finance/controls.js';
import { readStandings } from '#finance/findings.js';
import { type Reconciliation, reconcile, reconcileDue } from '#finance/reconciler.js';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';
import { Counter, Gauge, Histogram, type Registry } from '#platform/metrics.js';
import type { ReconcileConfig } from '#finance/reconcile.config.js';

/** A person waits for a requested run, so its queries time out sooner. */
const ASKED_LIMIT_MS = 30_000;
const SECONDS_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900];

/** How many times per interval to check whether a run is due. Another process may have done the last one. */
const LOOKS = 4;

export interface ReconcilerParts {
  pool: pg.Pool;
  relay: OutboxRelay;
  config: ReconcileConfig;
  log: Logger;
  registry: Registry;
}

/** Runs the controls of the books on schedule and on request, and shows their state. */
export class Reconciler extends Looping {
  private readonly metrics: ReturnType<typeof controlMetrics>;
  private isShown = false;

  constructor(private readonly parts: ReconcilerParts) {
    const { registry, config, log } = parts;
    super({ name: 'reconciler', intervalMs: config.intervalMs / LOOKS, log });
    this.metrics = controlMetrics(registry);
  }

  /** Runs these controls now; null while another run is in progress. @throws Error of the database */
  async runNow(ids: readonly string[] | null, askedBy: string): Promise<Reconciliation | null> {
    const asked = controls.filter(({ id, every }) => (ids === null ? every !== 'day' : ids.includes(id)));
    const { pool, config } = this.parts;
    const limitMs = Math.min(config.limitMs, ASKED_LIMIT_MS);
    const run = await this.timed(() => reconcile(pool, asked, { ...config, limitMs, askedBy }));
    await this.show();
    return run;
  }

  protected async round(signal: AbortSignal): Promise<void> {
    const { pool, config } = this.parts;
    // What is already known: a first run may take long or never end, and an alert would fire in the meantime.
    if (!this.isShown) await this.show();
    await this.timed(() => reconcileDue(pool, controls, { ...config, askedBy: 'system', signal }));
    await this.show();
  }

  private async timed(work: () => Promise<Reconciliation | null>): Promise<Reconciliation | null> {
    const startedAt = performance.now();
    const run = await work();
    if (!run) return null;
    this.metrics.seconds.observe((performance.now() - startedAt) / 1000);
    if (run.announced) this.parts.relay.wake();
    for (const { control, result, error } of run.outcomes) {
      if (error !== null) {
        this.metrics.errors.inc({ control: control.id });
        this.parts.log.error({ control: control.id, error }, 'a control of the books failed');
      } else if (result && result.count > 0) {
        this.parts.log.warn(
          { control: control.id, count: result.count },
          'a control of the books has findings',
        );
      }
    }
    return run;
  }

  /** From what is stored, so that every process reports the same, no matter which one ran. */
  private async show(): Promise<void> {
    const standings = await readStandings(
      this.parts.pool,
      controls.map(({ id }) => id),
    );
    for (const { control, count, lastRunAt } of standings) {
      if (count === null || lastRunAt === null) continue;
      this.metrics.findings.set({ control }, Number(count));
      this.metrics.lastLooks.set({ control }, Date.parse(lastRunAt) / 1000);
    }
    this.isShown = true;
  }
}

function controlMetrics(registry: Registry) {
  const registers = [registry];
  const ofControl = (name: string, help: string) => ({
    name,
    help,
    labelNames: ['control'] as const,
    registers,
  });
  const found = 'Findings of each control of the books in its last completed run. Should be 0.';
  const looked = 'Start of the last completed run of each control, Unix seconds.';
  const failed = 'Controls that failed or took too long.';
  return {
    findings: new Gauge(ofControl('tollgate_control_findings', found)),
    lastLooks: new Gauge(ofControl('tollgate_control_last_look_timestamp_seconds', looked)),
    errors: new Counter(ofControl('tollgate_control_errors_total', failed)),
    seconds: new Histogram({
      name: 'tollgate_control_run_seconds',
      help: 'How long runs of the controls took.',
      buckets: SECONDS_BUCKETS,
      registers,
    }),
  };
}
