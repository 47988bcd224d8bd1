import type { ConfigReader } from '#platform/config.js';
import { readRetentionTimes } from './retention.js';

const DAY = 86_400;
const MEGABYTE = 1024 * 1024;

export function readPrivacyConfig(reader: ConfigReader) {
  return {
    /** How long each class of data is kept. */
    retention: readRetentionTimes(reader),
    retentionIntervalMs: reader.get('RETENTION_INTERVAL_SECONDS'),
    /** How long the deletion of an account can be cancelled. */
    deletionGraceMs: readDeletionGrace(reader),
    /** The pause before a waiting deletion is checked again. */
    deletionRetryMs: reader.get('ACCOUNT_DELETION_RETRY_SECONDS'),
    /** How often to check for due deletions and requested exports. */
    pollMs: reader.get('PRIVACY_POLL_SECONDS'),
    /** A larger archive is not created. */
    exportMaxBytes: reader.get('ACCOUNT_EXPORT_MAX_MB') * MEGABYTE,
    /** How many archives an account may request. */
    exportLimit: {
      most: reader.get('ACCOUNT_EXPORTS_PER_DAY'),
      windowMs: DAY * 1000,
    },
  };
}

/** What customers may know and decide about their data. Durations are in milliseconds. */
export type PrivacyConfig = Readonly<ReturnType<typeof readPrivacyConfig>>;

/** Milliseconds. */
export function readDeletionGrace(reader: ConfigReader): number {
  return reader.get('ACCOUNT_DELETION_GRACE_SECONDS');
}
