import { parseChaos } from '#bus/chaos.js';
import type { ConfigReader } from '#platform/config.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import { readUploadRules, type UploadRules } from '#platform/http/uploads.js';
import { readStorageConfig } from '#storage/storage.config.js';
import type { DefaultLimits } from './protection/caller-limits.js';

/** The configuration of a gateway. Durations are in milliseconds. */
export interface GatewayConfig {
  /** The address clients use, without a trailing slash; undefined: taken from each request. */
  publicBaseUrl: string | undefined;
  /** Trust X-Forwarded-* from this many proxies. Only for a gateway behind such proxies. */
  trustProxy: number;
  urlSigningSecret: string;
  /** Opens the keys of channels. */
  secrets: SecretBox;
  /** Shared with the control plane, whose console uses it to call. Undefined: the console does not call. */
  consoleGrantSecret: string | undefined;
  /** How long a charge.requested can take to reach billing before it is refused as expired. */
  holdExpiresMs: number;
  busRequestTimeoutMs: number;
  /** From the arrival of an image request to the abort of the upstream call. */
  imageRequestLimitMs: number;
  /** From the arrival of a chat, response, message or speech to the abort of the upstream call, streamed or not. */
  streamLimitMs: number;
  /** How long an answer is read on after its client left, to learn what it used; and how many an account may have so. */
  streamDrainMs: number;
  streamDrainsPerAccount: number;
  /** How long an upstream can take to accept a video. After that the task counts as unclear and is returned as queued. */
  videoCreateLimitMs: number;
  /** Time beyond every limit and retry before an unresolved charge is released. */
  chargeGraceMs: number;
  taskDeadlineMs: number;
  /** The pause before a create whose task is new is looked at by the worker's poller. */
  firstPollMs: number;
  imageUrlLifeMs: number;
  /** Allows images from loopback and private hosts. Only for use inside your own network. */
  imageUrlsMayBePrivate: boolean;
  /** The memory for the large bodies of all requests together, shared fairly between accounts. */
  bodyMemoryBytes: number;
  /** How fast bodies have to arrive. */
  uploads: UploadRules;
  /** The number of request images read at the same time. */
  imageThreads: number;
  catalogLifeMs: number;
  /** The number of consecutive failed calls after which a channel is not used. */
  channelFailuresToOpen: number;
  /** How long it is not used before one call can try it. */
  channelOpenMs: number;
  /** How often all channels are tested. 0 means never. */
  channelCheckMs: number;
  /** How long a call waits for a place on a channel, in turn with other accounts, before it is refused. */
  channelWaitMs: number;
  keyCacheMs: number;
  /** The defaults for keys and accounts without their own limits. */
  defaultLimits: DefaultLimits;
  /** Failed keys per minute from one address before it is blocked. */
  failedKeysPerMinute: number;
  /** Host names allowed in requests, with or without a port. Empty allows any. */
  allowedHosts: readonly string[];
  idempotencyLifeMs: number;
  /** A gateway that does not report for this long is considered dead. */
  idempotencyLeaseMs: number;
  /** The pause between polls of the outbox, in case a wake-up was missed. */
  outboxPollMs: number;
  /** How often it reports its state. */
  reportMs: number;
  /** How long a shutdown waits for requests in flight. */
  shutdownGraceMs: number;
}

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
  channelFailuresToOpen: 'CHANNEL_FAILURES_TO_OPEN',
  channelOpenMs: 'CHANNEL_OPEN_SECONDS',
  channelCheckMs: 'CHANNEL_CHECK_SECONDS',
  channelWaitMs: 'CHANNEL_WAIT_SECONDS',
  holdExpiresMs: 'HOLD_EXPIRES_SECONDS',
  busRequestTimeoutMs: 'BUS_REQUEST_TIMEOUT_SECONDS',
  imageRequestLimitMs: 'IMAGE_REQUEST_LIMIT_SECONDS',
  streamLimitMs: 'STREAM_LIMIT_SECONDS',
  streamDrainMs: 'STREAM_DRAIN_SECONDS',
  streamDrainsPerAccount: 'STREAM_DRAINS_PER_ACCOUNT',
  videoCreateLimitMs: 'VIDEO_CREATE_LIMIT_SECONDS',
  chargeGraceMs: 'CHARGE_GRACE_SECONDS',
  taskDeadlineMs: 'TASK_DEADLINE_SECONDS',
  firstPollMs: 'POLL_INTERVAL_SECONDS',
} as const;

/** Reads the gateway's environment variables. The caller ends reading with `finish`. */
export function readGatewayConfig(reader: ConfigReader): GatewayConfig {
  return {
    ...reader.all(CALLS),
    publicBaseUrl: reader.get('PUBLIC_BASE_URL'),
    trustProxy: reader.get('TRUST_PROXY'),
    urlSigningSecret: reader.get('URL_SIGNING_SECRET'),
    secrets: readSecrets(reader),
    consoleGrantSecret: reader.get('CONSOLE_GRANT_SECRET'),
    imageUrlsMayBePrivate: reader.get('PICTURE_URLS_MAY_BE_PRIVATE'),
    bodyMemoryBytes: MEGABYTE * reader.get('BODY_MEMORY_MEGABYTES'),
    uploads: readUploadRules(reader),
    imageThreads: reader.get('PICTURE_THREADS'),
    imageUrlLifeMs: reader.get('IMAGE_URL_LIFE_SECONDS'),
    keyCacheMs: reader.get('KEY_CACHE_SECONDS'),
    defaultLimits: defaultLimits(reader),
    failedKeysPerMinute: reader.get('FAILED_KEYS_PER_MINUTE'),
    allowedHosts: allowedHosts(reader),
    idempotencyLifeMs: reader.get('IDEMPOTENCY_LIFE_SECONDS'),
    idempotencyLeaseMs: reader.get('IDEMPOTENCY_LEASE_SECONDS'),
    outboxPollMs: reader.get('OUTBOX_POLL_SECONDS'),
    reportMs: reader.get('REPORT_SECONDS'),
    shutdownGraceMs: reader.get('SHUTDOWN_GRACE_SECONDS'),
  };
}

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
