import type { ConfigReader } from '#platform/config.js';

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
    allowPrivate: reader.get('WEBHOOK_ALLOW_PRIVATE'),
    timeoutMs: reader.get('WEBHOOK_TIMEOUT_SECONDS'),
    retryMs: reader.get('WEBHOOK_RETRY_SECONDS'),
    longestRetryMs: reader.get('WEBHOOK_LONGEST_RETRY_SECONDS'),
    giveUpMs: reader.get('WEBHOOK_GIVE_UP_SECONDS'),
    disableAfterMs: reader.get('WEBHOOK_DISABLE_AFTER_SECONDS'),
    secretOverlapMs: reader.get('WEBHOOK_SECRET_OVERLAP_SECONDS'),
    logMs: reader.get('WEBHOOK_LOG_SECONDS'),
    pollMs: reader.get('WEBHOOK_POLL_SECONDS'),
  };
}
