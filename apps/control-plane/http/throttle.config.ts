import type { ConfigReader } from '#platform/config.js';

/** Requests that one person, or one network address without a session, may send to the console in a minute. */
export interface ThrottleConfig {
  readonly reads: number;
  readonly writes: number;
  readonly anonymous: number;
}

const MOST = 1_000_000;

export function readThrottleConfig(reader: ConfigReader): ThrottleConfig {
  const limit = (name: string, fallback: number) => reader.integer(name, { fallback, min: 1, max: MOST });
  return {
    reads: limit('CONSOLE_READS_PER_MINUTE', 600),
    writes: limit('CONSOLE_WRITES_PER_MINUTE', 240),
    // An office shares an address, and its people have sessions.
    anonymous: limit('CONSOLE_ANONYMOUS_PER_MINUTE', 300),
  };
}
