import type { ConfigReader } from '#platform/config.js';

export function readWebhooksConfig(reader: ConfigReader) {
  return {
    /** Allows plain http and private addresses, for tests and your own installation. */
    allowPrivate: reader.get('WEBHOOK_ALLOW_PRIVATE'),
    /** An attempt that takes longer has failed. */
    timeoutMs: reader.get('WEBHOOK_TIMEOUT_SECONDS'),
    /** The pause after the first failure. It triples with each further one, up to the longest. */
    retryMs: reader.get('WEBHOOK_RETRY_SECONDS'),
    longestRetryMs: reader.get('WEBHOOK_LONGEST_RETRY_SECONDS'),
    /** A delivery that has not succeeded after this time has failed. */
    giveUpMs: reader.get('WEBHOOK_GIVE_UP_SECONDS'),
    /** An endpoint that fails for this long without a success is disabled. */
    disableAfterMs: reader.get('WEBHOOK_DISABLE_AFTER_SECONDS'),
    /** How long a replaced secret keeps signing. */
    secretOverlapMs: reader.get('WEBHOOK_SECRET_OVERLAP_SECONDS'),
    /** How long deliveries stay in the log. */
    logMs: reader.get('WEBHOOK_LOG_SECONDS'),
    /** How often the sender checks even if nobody wakes it. */
    pollMs: reader.get('WEBHOOK_POLL_SECONDS'),
  };
}

/** How webhooks are delivered. Durations are in milliseconds. */
export type WebhooksConfig = Readonly<ReturnType<typeof readWebhooksConfig>>;
