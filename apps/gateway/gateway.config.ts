import { parseChaos } from '#bus/chaos.js';
import type { ConfigReader } from '#platform/config.js';
import { readSecrets } from '#platform/sealed-secret.js';
import { readUploadRules } from '#platform/http/uploads.js';
import { readStorageConfig } from '#storage/storage.config.js';
import type { DefaultLimits } from './protection/caller-limits.js';

const MEGABYTE = 1024 * 1024;

/** All variables that only this program reads. */
export function readGatewayProgram(reader: ConfigReader) {
  return {
    port: reader.get('PORT'),
    storage: readStorageConfig(reader),
    config: readGatewayConfig(reader),
    chaos: parseChaos(reader.get('BUS_CHAOS')),
  };
}

/** What bounds a call, and the use of channels. */
const CALLS = {
  catalogLifeMs: 'CATALOG_LIFE_SECONDS',
  /** The number of consecutive failed calls after which a channel is not used. */
  channelFailuresToOpen: 'CHANNEL_FAILURES_TO_OPEN',
  /** How long it is not used before one call can try it. */
  channelOpenMs: 'CHANNEL_OPEN_SECONDS',
  /** How often all channels are tested. 0 means never. */
  channelCheckMs: 'CHANNEL_CHECK_SECONDS',
  /** How long a call waits for a place on a channel, in turn with other accounts, before it is refused. */
  channelWaitMs: 'CHANNEL_WAIT_SECONDS',
  /** How long a charge.requested can take to reach billing before it is refused as expired. */
  holdExpiresMs: 'HOLD_EXPIRES_SECONDS',
  busRequestTimeoutMs: 'BUS_REQUEST_TIMEOUT_SECONDS',
  /** From the arrival of an image request to the abort of the upstream call. */
  imageRequestLimitMs: 'IMAGE_REQUEST_LIMIT_SECONDS',
  /** From the arrival of a chat, response, message or speech to the abort of the upstream call, streamed or not. */
  streamLimitMs: 'STREAM_LIMIT_SECONDS',
  /** How long an answer is read after its client has left, to learn what it used; and how many of an account at once. */
  streamDrainMs: 'STREAM_DRAIN_SECONDS',
  streamDrainsPerAccount: 'STREAM_DRAINS_PER_ACCOUNT',
  /** How long an upstream can take to accept a video. After that the task counts as unclear and is returned as queued. */
  videoCreateLimitMs: 'VIDEO_CREATE_LIMIT_SECONDS',
  /** Time beyond every limit and retry before an unresolved charge is released. */
  chargeGraceMs: 'CHARGE_GRACE_SECONDS',
  taskDeadlineMs: 'TASK_DEADLINE_SECONDS',
  /** The pause before a worker first polls a new task. */
  firstPollMs: 'POLL_INTERVAL_SECONDS',
} as const;

/** What it trusts and keeps, and how it runs. */
const SERVING = {
  /** The address clients use, without a trailing slash; undefined: taken from each request. */
  publicBaseUrl: 'PUBLIC_BASE_URL',
  /** Trust X-Forwarded-* from this many proxies. Only for a gateway behind such proxies. */
  trustProxy: 'TRUST_PROXY',
  urlSigningSecret: 'URL_SIGNING_SECRET',
  /** Shared with the control plane, whose console uses it to call. Undefined: the console does not call. */
  consoleGrantSecret: 'CONSOLE_GRANT_SECRET',
  /** Allows images from loopback and private hosts. Only for use inside your own network. */
  imageUrlsMayBePrivate: 'PICTURE_URLS_MAY_BE_PRIVATE',
  /** The number of request images read at the same time. */
  imageThreads: 'PICTURE_THREADS',
  imageUrlLifeMs: 'IMAGE_URL_LIFE_SECONDS',
  keyCacheMs: 'KEY_CACHE_SECONDS',
  /** Failed keys per minute from one address before it is blocked. */
  failedKeysPerMinute: 'FAILED_KEYS_PER_MINUTE',
  idempotencyLifeMs: 'IDEMPOTENCY_LIFE_SECONDS',
  /** A gateway that does not report for this long is considered dead. */
  idempotencyLeaseMs: 'IDEMPOTENCY_LEASE_SECONDS',
  /** The pause between polls of the outbox, in case a wake-up was missed. */
  outboxPollMs: 'OUTBOX_POLL_SECONDS',
  /** How often it reports its state. */
  reportMs: 'REPORT_SECONDS',
  /** How long a shutdown waits for requests in flight. */
  shutdownGraceMs: 'SHUTDOWN_GRACE_SECONDS',
} as const;

/** Reads the gateway's environment variables. The caller ends reading with `finish`. */
export function readGatewayConfig(reader: ConfigReader) {
  return {
    ...reader.all(CALLS),
    ...reader.all(SERVING),
    /** Opens the keys of channels. */
    secrets: readSecrets(reader),
    /** The memory for the large bodies of all requests together, shared fairly between accounts. */
    bodyMemoryBytes: MEGABYTE * reader.get('BODY_MEMORY_MEGABYTES'),
    /** How fast bodies have to arrive. */
    uploads: readUploadRules(reader),
    /** The defaults for keys and accounts without their own limits. */
    defaultLimits: defaultLimits(reader),
    /** Host names allowed in requests, with or without a port. Empty allows any. */
    allowedHosts: allowedHosts(reader),
  };
}

/** The configuration of a gateway. Durations are in milliseconds. */
export type GatewayConfig = ReturnType<typeof readGatewayConfig>;

function defaultLimits(reader: ConfigReader): DefaultLimits {
  return {
    key: {
      requestsPerMinute: reader.get('KEY_REQUESTS_PER_MINUTE'),
      concurrentRequests: reader.get('KEY_CONCURRENT_REQUESTS'),
    },
    account: {
      requestsPerMinute: reader.get('ACCOUNT_REQUESTS_PER_MINUTE'),
      concurrentRequests: reader.get('ACCOUNT_CONCURRENT_REQUESTS'),
    },
  };
}

/** The host of the public address is always allowed. */
function allowedHosts(reader: ConfigReader): string[] {
  const names = reader.get('ALLOWED_HOSTS');
  const publicUrl = reader.get('PUBLIC_BASE_URL');
  if (names.length === 0 || publicUrl === undefined || !URL.canParse(publicUrl)) return names;
  return [...names, new URL(publicUrl).host];
}
