import type { ConfigReader } from '#platform/config.js';

/** How the controls of the books run by themselves; milliseconds. */
export interface ReconcileConfig {
  /** Pause between two runs, of all processes together. */
  readonly intervalMs: number;
  /** Work younger than this may be in flight, and is no finding yet. */
  readonly graceMs: number;
  /** A report of a provider or bank is due so long after the last one ended, where something happened since. */
  readonly reportOverdueMs: number;
  /** Each query of a control is given up after this. */
  readonly limitMs: number;
  /** How long the results of runs are kept. */
  readonly keepMs: number;
}

const DAY = 24 * 3_600;

export function readReconcileConfig(reader: ConfigReader): ReconcileConfig {
  return {
    intervalMs: reader.seconds('RECONCILE_SECONDS', 300),
    graceMs: reader.seconds('RECONCILE_GRACE_SECONDS', 300),
    reportOverdueMs: reader.integer('REPORT_OVERDUE_HOURS', { fallback: 72, min: 1, max: 8_784 }) * 3_600_000,
    limitMs: reader.seconds('RECONCILE_LIMIT_SECONDS', 600),
    keepMs: reader.seconds('RECONCILE_KEEP_SECONDS', 30 * DAY),
  };
}
