import type { ConfigReader } from '#platform/config.js';

/** Requests that one person, or one network address without a session, may send to the console in a minute. */
export interface ThrottleConfig {
  readonly reads: number;
  readonly writes: number;
  readonly anonymous: number;
}

export function readThrottleConfig(reader: ConfigReader): ThrottleConfig {
  return {
    reads: reader.get('CONSOLE_READS_PER_MINUTE'),
    writes: reader.get('CONSOLE_WRITES_PER_MINUTE'),
    // An office shares an address, and its people have sessions.
    anonymous: reader.get('CONSOLE_ANONYMOUS_PER_MINUTE'),
  };
}
