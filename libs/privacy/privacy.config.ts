import type { AttemptLimit } from '#identity/attempts.store.js';
import type { ConfigReader } from '#platform/config.js';
import { readRetentionTimes, type RetentionTimes } from './retention.js';

/** What customers may know and decide about their data. Durations are in milliseconds. */
export interface PrivacyConfig {
  /** How long each class of data is kept. */
  readonly retention: RetentionTimes;
  readonly retentionIntervalMs: number;
  /** How long the deletion of an account can be cancelled. */
  readonly deletionGraceMs: number;
  /** The pause before a waiting deletion is checked again. */
  readonly deletionRetryMs: number;
  /** How often to check for due deletions and requested exports. */
  readonly pollMs: number;
  /** A larger archive is not created. */
  readonly exportMaxBytes: number;
  /** How many archives an account may request. */
  readonly exportLimit: AttemptLimit;
}

const DAY = 86_400;
const MEGABYTE = 1024 * 1024;

export function readPrivacyConfig(reader: ConfigReader): PrivacyConfig {
  return {
    retention: readRetentionTimes(reader),
    retentionIntervalMs: reader.get('RETENTION_INTERVAL_SECONDS'),
    deletionGraceMs: readDeletionGrace(reader),
    deletionRetryMs: reader.get('ACCOUNT_DELETION_RETRY_SECONDS'),
    pollMs: reader.get('PRIVACY_POLL_SECONDS'),
    exportMaxBytes: reader.get('ACCOUNT_EXPORT_MAX_MB') * MEGABYTE,
    exportLimit: {
      most: reader.get('ACCOUNT_EXPORTS_PER_DAY'),
      windowMs: DAY * 1000,
    },
  };
}

/** Milliseconds. */
export function readDeletionGrace(reader: ConfigReader): number {
  return reader.get('ACCOUNT_DELETION_GRACE_SECONDS');
}
