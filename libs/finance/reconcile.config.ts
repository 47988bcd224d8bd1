import type { ConfigReader } from '#platform/config.js';

export function readReconcileConfig(reader: ConfigReader) {
  return {
    /** Pause between two runs, of all processes together. */
    intervalMs: reader.get('RECONCILE_SECONDS'),
    /** Work younger than this may be in progress and is not a finding yet. */
    graceMs: reader.get('RECONCILE_GRACE_SECONDS'),
    /** A report of a provider or bank is due this long after the last one ended, if anything has happened since. */
    reportOverdueMs: reader.get('REPORT_OVERDUE_HOURS') * 3_600_000,
    /** The time limit for each query of a control. */
    limitMs: reader.get('RECONCILE_LIMIT_SECONDS'),
    /** How long the results of runs are kept. */
    keepMs: reader.get('RECONCILE_KEEP_SECONDS'),
  };
}

/** The schedule of the controls, in milliseconds. */
export type ReconcileConfig = Readonly<ReturnType<typeof readReconcileConfig>>;
