import type { ConfigReader } from '#platform/config.js';

/** How periods close; milliseconds. */
export interface PeriodsConfig {
  /** How long after its end a period can be closed at the earliest: longer than any posting takes. */
  readonly marginMs: number;
  /** How long a close waits for transactions that began before it. */
  readonly waitMs: number;
  /** The longest wait for an answer over HTTP. The close continues. */
  readonly answerMs: number;
}

export function readPeriodsConfig(reader: ConfigReader): PeriodsConfig {
  return {
    marginMs: reader.get('PERIOD_MARGIN_SECONDS'),
    waitMs: reader.get('PERIOD_WAIT_SECONDS'),
    answerMs: reader.get('PERIOD_ANSWER_SECONDS'),
  };
}
