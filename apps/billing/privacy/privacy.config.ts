import type { ConfigReader } from '#platform/config.js';
import { readRetentionTimes, type RetentionTimes } from '#privacy/retention.js';

/** What customers may know and decide about their data. Durations in milliseconds. */
export interface PrivacyConfig {
  /** How long each class of data is kept. */
  readonly retention: RetentionTimes;
  readonly retentionIntervalMs: number;
}

export function readPrivacyConfig(reader: ConfigReader): PrivacyConfig {
  return {
    retention: readRetentionTimes(reader),
    retentionIntervalMs: reader.seconds('RETENTION_INTERVAL_SECONDS', 600),
  };
}
