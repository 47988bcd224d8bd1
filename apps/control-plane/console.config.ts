import type { ConfigReader } from '#platform/config.js';
import { readThrottleConfig, type ThrottleConfig } from './http/throttle.config.js';

/** What the pages of the console need. Durations in milliseconds. */
export interface ConsoleConfig {
  /** How long support can view another account's console before confirming it again. */
  readonly viewLifeMs: number;
  readonly live: LiveConfig;
  /** How often sums for overviews are brought up to date. */
  readonly usageSummaryMs: number;
  readonly playground: PlaygroundConfig;
  /** How often a program reports its state. */
  readonly reportMs: number;
  /** How long an upstream may take to answer a test of its channel. */
  readonly channelTestMs: number;
  readonly throttle: ThrottleConfig;
  /** The number of expensive reports, and of files, that are made at the same time. */
  readonly heavy: { readonly queries: number; readonly files: number };
}

export interface LiveConfig {
  /** How often changes are read, for all viewers together. */
  readonly pollMs: number;
  /** A stream without news sends something after this long, so that proxies keep it open. */
  readonly heartbeatMs: number;
  /** Simultaneous streams of this process, and of one person in it. */
  readonly connections: number;
  readonly connectionsPerPerson: number;
}

export interface PlaygroundConfig {
  /** Shared with the gateways; undefined: calls from the console are not offered. */
  readonly grantSecret: string | undefined;
  /** Where billing reaches a gateway; undefined: where clients do. */
  readonly gatewayUrl: string | undefined;
  /** Simultaneous calls from all consoles. */
  readonly concurrency: number;
}

export function readConsoleConfig(reader: ConfigReader): ConsoleConfig {
  return {
    viewLifeMs: reader.get('ACCOUNT_VIEW_SECONDS'),
    live: {
      pollMs: reader.get('LIVE_POLL_SECONDS'),
      heartbeatMs: reader.get('LIVE_HEARTBEAT_SECONDS'),
      connections: reader.get('LIVE_CONNECTIONS'),
      connectionsPerPerson: reader.get('LIVE_CONNECTIONS_PER_PERSON'),
    },
    usageSummaryMs: reader.get('USAGE_SUMMARY_SECONDS'),
    playground: {
      grantSecret: reader.get('CONSOLE_GRANT_SECRET'),
      gatewayUrl: reader.get('GATEWAY_URL'),
      concurrency: reader.get('PLAYGROUND_CONCURRENCY'),
    },
    reportMs: reader.get('REPORT_SECONDS'),
    throttle: readThrottleConfig(reader),
    heavy: { queries: reader.get('CONSOLE_REPORTS_AT_ONCE'), files: reader.get('CONSOLE_FILES_AT_ONCE') },
    channelTestMs: reader.get('CHANNEL_TEST_SECONDS'),
  };
}
