import type { ConfigReader } from '#platform/config.js';

/** The schedule of the controls, in milliseconds. */
export interface ReconcileConfig {
  /** Pause between two runs, of all processes together. */
  readonly intervalMs: number;
  /** Work younger than this may be in progress and is not a finding yet. */
  readonly graceMs: number;
  /** A report of a provider or bank is due this long after the last one ended, if anything has happened since. */
  readonly reportOverdueMs: number;
  /** The time limit for each query of a control. */
  readonly limitMs: number;
  /** How long the results of runs are kept. */
  readonly keepMs: number;
}

export function readReconcileConfig(reader: ConfigReader): ReconcileConfig {
  return {
    intervalMs: reader.get('RECONCILE_SECONDS'),
    graceMs: reader.get('RECONCILE_GRACE_SECONDS'),
    reportOverdueMs: reader.get('REPORT_OVERDUE_HOURS') * 3_600_000,
    limitMs: reader.get('RECONCILE_LIMIT_SECONDS'),
    keepMs: reader.get('RECONCILE_KEEP_SECONDS'),
  };
}
