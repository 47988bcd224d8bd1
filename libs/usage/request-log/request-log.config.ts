import type { ConfigReader } from '#platform/config.js';
import { readRequestLogStorage } from '#storage/storage.config.js';

export function readRequestLogConfig(reader: ConfigReader) {
  return {
    /** Null: the log is not exported. */
    storage: readRequestLogStorage(reader),
    /** How often to check whether an hour can be exported, in milliseconds. */
    intervalMs: reader.get('REQUEST_LOG_SECONDS'),
  };
}
