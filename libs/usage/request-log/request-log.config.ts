import type { ConfigReader } from '#platform/config.js';
import { readRequestLogStorage, type StorageConfig } from '#storage/storage.config.js';

export interface RequestLogConfig {
  /** Null: the log is not exported. */
  readonly storage: StorageConfig | null;
  /** How often to check whether an hour can be exported, in milliseconds. */
  readonly intervalMs: number;
}

export function readRequestLogConfig(reader: ConfigReader): RequestLogConfig {
  return { storage: readRequestLogStorage(reader), intervalMs: reader.get('REQUEST_LOG_SECONDS') };
}
