import type { ConfigReader } from '#platform/config.js';

/** How periods close; milliseconds. */
export interface PeriodsConfig {
  /** A period is closed this long after its end at the earliest: longer than any posting takes. */
  readonly marginMs: number;
  /** How long a close waits for transactions that began before it. */
  readonly waitMs: number;
  /** An answer over HTTP comes after this at the latest; the close goes on. */
  readonly answerMs: number;
}

export function readPeriodsConfig(reader: ConfigReader): PeriodsConfig {
  return {
    marginMs: reader.get('PERIOD_MARGIN_SECONDS'),
    waitMs: reader.get('PERIOD_WAIT_SECONDS'),
    answerMs: reader.get('PERIOD_ANSWER_SECONDS'),
  };
}
