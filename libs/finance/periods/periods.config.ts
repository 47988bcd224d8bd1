import type { ConfigReader } from '#platform/config.js';

export function readPeriodsConfig(reader: ConfigReader) {
  return {
    /** How long after its end a period can be closed at the earliest: longer than any posting takes. */
    marginMs: reader.get('PERIOD_MARGIN_SECONDS'),
    /** How long a close waits for transactions that began before it. */
    waitMs: reader.get('PERIOD_WAIT_SECONDS'),
    /** The longest wait for an answer over HTTP. The close continues. */
    answerMs: reader.get('PERIOD_ANSWER_SECONDS'),
  };
}

/** How periods close; milliseconds. */
export type PeriodsConfig = Readonly<ReturnType<typeof readPeriodsConfig>>;
