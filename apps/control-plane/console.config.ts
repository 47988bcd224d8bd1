import type { ConfigReader } from '#platform/config.js';
import { readThrottleConfig } from './http/throttle.config.js';

const LIVE = {
  /** How often changes are read, for all viewers together. */
  pollMs: 'LIVE_POLL_SECONDS',
  /** A stream without news sends something after this long, so that proxies keep it open. */
  heartbeatMs: 'LIVE_HEARTBEAT_SECONDS',
  /** Simultaneous streams of this process, and of one person in it. */
  connections: 'LIVE_CONNECTIONS',
  connectionsPerPerson: 'LIVE_CONNECTIONS_PER_PERSON',
} as const;

const PLAYGROUND = {
  /** Shared with the gateways; undefined: calls from the console are not offered. */
  grantSecret: 'CONSOLE_GRANT_SECRET',
  /** Where billing reaches a gateway; undefined: where clients do. */
  gatewayUrl: 'GATEWAY_URL',
  /** Simultaneous calls from all consoles. */
  concurrency: 'PLAYGROUND_CONCURRENCY',
} as const;

/** What the pages of the console need. Durations in milliseconds. */
export function readConsoleConfig(reader: ConfigReader) {
  return {
    /** How long support can view another account's console before confirming it again. */
    viewLifeMs: reader.get('ACCOUNT_VIEW_SECONDS'),
    live: reader.all(LIVE),
    /** How often sums for overviews are brought up to date. */
    usageSummaryMs: reader.get('USAGE_SUMMARY_SECONDS'),
    playground: reader.all(PLAYGROUND),
    reportMs: reader.get('REPORT_SECONDS'),
    throttle: readThrottleConfig(reader),
    /** The number of expensive reports, and of files, that are made at the same time. */
    heavy: { queries: reader.get('CONSOLE_REPORTS_AT_ONCE'), files: reader.get('CONSOLE_FILES_AT_ONCE') },
    /** How long an upstream may take to answer a test of its channel. */
    channelTestMs: reader.get('CHANNEL_TEST_SECONDS'),
  };
}

export type LiveConfig = ReturnType<typeof readConsoleConfig>['live'];
export type PlaygroundConfig = ReturnType<typeof readConsoleConfig>['playground'];
