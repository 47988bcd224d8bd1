import type { ConfigReader } from '#platform/config.js';
import { readThrottleConfig, type ThrottleConfig } from './http/throttle.config.js';

/** What the pages of the console stand on. Durations in milliseconds. */
export interface ConsoleConfig {
  /** How long support may look at the console of somebody else, before it has to say so again. */
  readonly viewLifeMs: number;
  readonly live: LiveConfig;
  /** How often sums for overviews are brought up to date. */
  readonly usageSummaryMs: number;
  readonly playground: PlaygroundConfig;
  /** How often a program says how it is. */
  readonly reportMs: number;
  /** How long an upstream may take to answer a test of its channel. */
  readonly channelTestMs: number;
  readonly throttle: ThrottleConfig;
  /** Expensive reports, and files, that are made at the same time. */
  readonly heavy: { readonly queries: number; readonly files: number };
}

export interface LiveConfig {
  /** How often it is looked what has changed, for everybody who watches together. */
  readonly pollMs: number;
  /** A stream without news says something after this long, so that proxies keep it. */
  readonly heartbeatMs: number;
  /** Streams at once: of this process, and of one person here. */
  readonly connections: number;
  readonly connectionsPerPerson: number;
}

export interface PlaygroundConfig {
  /** Shared with the gateways; undefined: calls from the console are not offered. */
  readonly grantSecret: string | undefined;
  /** Where billing reaches a gateway; undefined: where clients do. */
  readonly gatewayUrl: string | undefined;
  /** Calls at once from all consoles. */
  readonly concurrency: number;
}

/** Shorter secrets can be guessed from one grant. */
const MIN_GRANT_SECRET_CHARS = 32;
const MOST = 1_000_000;

export function readConsoleConfig(reader: ConfigReader): ConsoleConfig {
  const count = (name: string, fallback: number) => reader.integer(name, { fallback, min: 1, max: MOST });
  return {
    viewLifeMs: reader.seconds('ACCOUNT_VIEW_SECONDS', 30 * 60),
    live: {
      pollMs: reader.seconds('LIVE_POLL_SECONDS', 1),
      heartbeatMs: reader.seconds('LIVE_HEARTBEAT_SECONDS', 15),
      connections: count('LIVE_CONNECTIONS', 1_000),
      connectionsPerPerson: count('LIVE_CONNECTIONS_PER_PERSON', 10),
    },
    usageSummaryMs: reader.seconds('USAGE_SUMMARY_SECONDS', 5),
    playground: {
      grantSecret: reader.optionalSecret('CONSOLE_GRANT_SECRET', MIN_GRANT_SECRET_CHARS),
      gatewayUrl: reader.optionalString('GATEWAY_URL') && reader.url('GATEWAY_URL').replace(/\/+$/, ''),
      concurrency: count('PLAYGROUND_CONCURRENCY', 200),
    },
    reportMs: reader.seconds('REPORT_SECONDS', 5),
    throttle: readThrottleConfig(reader),
    heavy: { queries: count('CONSOLE_REPORTS_AT_ONCE', 6), files: count('CONSOLE_FILES_AT_ONCE', 6) },
    channelTestMs: reader.seconds('CHANNEL_TEST_SECONDS', 10),
  };
}
