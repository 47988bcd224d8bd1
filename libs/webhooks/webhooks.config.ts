import type { ConfigReader } from '#platform/config.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** How webhooks are delivered; durations in milliseconds. */
export interface WebhooksConfig {
  /** Plain http and addresses that are not public: for tests and installations of one's own. */
  readonly allowPrivate: boolean;
  /** An attempt that takes longer has failed. */
  readonly timeoutMs: number;
  /** The pause after the first failure; it trebles with each further one, up to the longest. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** A delivery that has not succeeded after this long is given up. */
  readonly giveUpMs: number;
  /** An endpoint that has failed for this long without a success is switched off. */
  readonly disableAfterMs: number;
  /** How long an exchanged secret still signs. */
  readonly secretOverlapMs: number;
  /** How long deliveries stay in the log. */
  readonly logMs: number;
  /** The net under the waking of the sender. */
  readonly pollMs: number;
}

export function readWebhooksConfig(reader: ConfigReader): WebhooksConfig {
  return {
    allowPrivate: reader.boolean('WEBHOOK_ALLOW_PRIVATE', false),
    timeoutMs: reader.seconds('WEBHOOK_TIMEOUT_SECONDS', 10),
    retryMs: reader.seconds('WEBHOOK_RETRY_SECONDS', 5),
    longestRetryMs: reader.seconds('WEBHOOK_LONGEST_RETRY_SECONDS', 6 * HOUR),
    giveUpMs: reader.seconds('WEBHOOK_GIVE_UP_SECONDS', 3 * DAY),
    disableAfterMs: reader.seconds('WEBHOOK_DISABLE_AFTER_SECONDS', 5 * DAY),
    secretOverlapMs: reader.seconds('WEBHOOK_SECRET_OVERLAP_SECONDS', DAY),
    logMs: reader.seconds('WEBHOOK_LOG_SECONDS', 30 * DAY),
    pollMs: reader.seconds('WEBHOOK_POLL_SECONDS', 1),
  };
}
