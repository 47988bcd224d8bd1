import type { ConfigReader } from '#platform/config.js';

/** How periods close; milliseconds. */
export interface PeriodsConfig {
  /** A period is closed so long after its end at the earliest: longer than any posting takes. */
  readonly marginMs: number;
  /** How long a close waits for transactions that began before it. */
  readonly waitMs: number;
  /** An answer over HTTP comes after this at the latest; the close goes on. */
  readonly answerMs: number;
}

export function readPeriodsConfig(reader: ConfigReader): PeriodsConfig {
  return {
    marginMs: reader.seconds('PERIOD_MARGIN_SECONDS', 60),
    waitMs: reader.seconds('PERIOD_WAIT_SECONDS', 30),
    answerMs: reader.seconds('PERIOD_ANSWER_SECONDS', 15),
  };
}
