import type { ConfigReader } from '#platform/config.js';

/** How the controls of the books run by themselves; milliseconds. */
export interface ReconcileConfig {
  /** Pause between two runs, of all processes together. */
  readonly intervalMs: number;
  /** Work younger than this may be in flight, and is no finding yet. */
  readonly graceMs: number;
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
    limitMs: reader.seconds('RECONCILE_LIMIT_SECONDS', 600),
    keepMs: reader.seconds('RECONCILE_KEEP_SECONDS', 30 * DAY),
  };
}
