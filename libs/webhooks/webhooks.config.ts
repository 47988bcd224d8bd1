import type { ConfigReader } from '#platform/config.js';

/** How webhooks are delivered. Durations are in milliseconds. */
export interface WebhooksConfig {
  /** Allows plain http and private addresses, for tests and your own installation. */
  readonly allowPrivate: boolean;
  /** An attempt that takes longer has failed. */
  readonly timeoutMs: number;
  /** The pause after the first failure. It triples with each further one, up to the longest. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** A delivery that has not succeeded after this time has failed. */
  readonly giveUpMs: number;
  /** An endpoint that fails for this long without a success is disabled. */
  readonly disableAfterMs: number;
  /** How long a replaced secret keeps signing. */
  readonly secretOverlapMs: number;
  /** How long deliveries stay in the log. */
  readonly logMs: number;
  /** How often the sender checks even if nobody wakes it. */
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
