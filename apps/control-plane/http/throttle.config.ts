import type { ConfigReader } from '#platform/config.js';

/** Requests that one person, or one network address without a session, may send to the console in a minute. */
export function readThrottleConfig(reader: ConfigReader) {
  return {
    reads: reader.get('CONSOLE_READS_PER_MINUTE'),
    writes: reader.get('CONSOLE_WRITES_PER_MINUTE'),
    // An office shares an address, and its people have sessions.
    anonymous: reader.get('CONSOLE_ANONYMOUS_PER_MINUTE'),
  };
}
