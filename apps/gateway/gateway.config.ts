import type { ConfigReader } from '#platform/config.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import { readUploadRules, type UploadRules } from '#platform/http/uploads.js';
import type { DefaultLimits } from './protection/caller-limits.js';

/** What a gateway is told at its start. Durations in milliseconds. */
export interface GatewayConfig {
  /** The address clients use, without a trailing slash; undefined: taken from each request. */
  publicBaseUrl: string | undefined;
  /** Believe X-Forwarded-* as far as so many proxies wrote them: only behind such that do. */
  trustProxy: number;
  urlSigningSecret: string;
  /** Opens the keys of channels. */
  secrets: SecretBox;
  /** Shared with billing, whose console calls with it; undefined: the console does not call. */
  consoleGrantSecret: string | undefined;
  /** How long billing may take to see a charge.requested before it refuses it as expired. */
  holdExpiresMs: number;
  busRequestTimeoutMs: number;
  /** From the arrival of an image request to the abort of the upstream call. */
  imageRequestLimitMs: number;
  /** From the arrival of a chat, response, message or speech to the abort of the upstream call, streamed or not. */
  streamLimitMs: number;
  /** How long an answer is read on after its client left, to learn what it used; and how many an account may have so. */
  streamDrainMs: number;
  streamDrainsPerAccount: number;
  /** How long an upstream may take to accept a video; then the task counts as unclear and is answered as queued. */
  videoCreateLimitMs: number;
  /** Time beyond every limit and retry before an unresolved charge is released. */
  chargeGraceMs: number;
  taskDeadlineMs: number;
  /** The pause before a create whose task is new is looked at by the worker's poller. */
  firstPollMs: number;
  imageUrlLifeMs: number;
  /** Pictures that requests name by address may lie on loopback and private hosts: only inside one's own network. */
  pictureUrlsMayBePrivate: boolean;
  /** What the large bodies of all requests may weigh together in memory; accounts have fair shares of it. */
  bodyMemoryBytes: number;
  /** How bodies have to arrive. */
  uploads: UploadRules;
  /** Pictures of requests that are read at the same time. */
  pictureThreads: number;
  catalogLifeMs: number;
  /** Failed calls to a channel, without one that succeeded between them, after which it is left alone. */
  channelFailuresToOpen: number;
  /** How long it is left alone before one call may try it. */
  channelOpenMs: number;
  /** How long a call waits for a place on a channel, in turn with other accounts, before it is refused. */
  channelWaitMs: number;
  keyCacheMs: number;
  /** What holds for keys and accounts for which nothing was set. */
  defaultLimits: DefaultLimits;
  /** Keys in vain from one address in a minute, beyond which it may try no more. */
  failedKeysPerMinute: number;
  /** Hosts that requests may name, with or without a port; none: any. */
  allowedHosts: readonly string[];
  idempotencyLifeMs: number;
  /** After this a gateway that says nothing is taken for dead. */
  idempotencyLeaseMs: number;
  /** The net under the waking of the outbox relay. */
  outboxPollMs: number;
  /** How often it says how it is. */
  reportMs: number;
  /** How long a shutdown waits for requests in flight. */
  shutdownGraceMs: number;
}

const COUNT = { min: 1, max: 1_000_000_000 };
const MEGABYTE = 1024 * 1024;
/** Shorter secrets can be guessed from one signed address. */
const MIN_SECRET_CHARS = 32;

/** Reads the gateway's part of the environment; the caller ends the reading with `finish`. */
export function readGatewayConfig(reader: ConfigReader): GatewayConfig {
  return {
    publicBaseUrl: reader.optionalString('PUBLIC_BASE_URL') && withoutSlash(reader.url('PUBLIC_BASE_URL')),
    trustProxy: reader.proxies('TRUST_PROXY'),
    urlSigningSecret: reader.secret('URL_SIGNING_SECRET', MIN_SECRET_CHARS),
    secrets: readSecrets(reader),
    consoleGrantSecret: reader.optionalSecret('CONSOLE_GRANT_SECRET', MIN_SECRET_CHARS),
    holdExpiresMs: reader.seconds('HOLD_EXPIRES_SECONDS', 10),
    busRequestTimeoutMs: reader.seconds('BUS_REQUEST_TIMEOUT_SECONDS', 5),
    imageRequestLimitMs: reader.seconds('IMAGE_REQUEST_LIMIT_SECONDS', 120),
    streamLimitMs: reader.seconds('STREAM_LIMIT_SECONDS', 600),
    streamDrainMs: reader.seconds('STREAM_DRAIN_SECONDS', 30),
    streamDrainsPerAccount: reader.integer('STREAM_DRAINS_PER_ACCOUNT', { fallback: 8, min: 0, max: 10_000 }),
    videoCreateLimitMs: reader.seconds('VIDEO_CREATE_LIMIT_SECONDS', 20),
    chargeGraceMs: reader.seconds('CHARGE_GRACE_SECONDS', 30),
    taskDeadlineMs: reader.seconds('TASK_DEADLINE_SECONDS', 3600),
    firstPollMs: reader.seconds('POLL_INTERVAL_SECONDS', 1),
    pictureUrlsMayBePrivate: reader.boolean('PICTURE_URLS_MAY_BE_PRIVATE', false),
    bodyMemoryBytes:
      MEGABYTE * reader.integer('BODY_MEMORY_MEGABYTES', { fallback: 512, min: 1, max: 1_000_000 }),
    uploads: readUploadRules(reader),
    pictureThreads: reader.integer('PICTURE_THREADS', { fallback: 2, min: 1, max: 64 }),
    imageUrlLifeMs: reader.seconds('IMAGE_URL_LIFE_SECONDS', 3600),
    channelFailuresToOpen: reader.integer('CHANNEL_FAILURES_TO_OPEN', {
      fallback: 5,
      min: 1,
      max: 1_000_000,
    }),
    channelOpenMs: reader.seconds('CHANNEL_OPEN_SECONDS', 10),
    channelWaitMs: reader.seconds('CHANNEL_WAIT_SECONDS', 30),
    catalogLifeMs: reader.seconds('CATALOG_LIFE_SECONDS', 30),
    keyCacheMs: reader.seconds('KEY_CACHE_SECONDS', 1),
    defaultLimits: defaultLimits(reader),
    failedKeysPerMinute: reader.integer('FAILED_KEYS_PER_MINUTE', { ...COUNT, fallback: 120 }),
    allowedHosts: allowedHosts(reader),
    idempotencyLifeMs: reader.seconds('IDEMPOTENCY_LIFE_SECONDS', 86_400),
    idempotencyLeaseMs: reader.seconds('IDEMPOTENCY_LEASE_SECONDS', 10),
    outboxPollMs: reader.seconds('OUTBOX_POLL_SECONDS', 0.25),
    reportMs: reader.seconds('REPORT_SECONDS', 5),
    shutdownGraceMs: reader.seconds('SHUTDOWN_GRACE_SECONDS', 30),
  };
}

function defaultLimits(reader: ConfigReader): DefaultLimits {
  return {
    key: {
      requestsPerMinute: reader.integer('KEY_REQUESTS_PER_MINUTE', { ...COUNT, fallback: 600 }),
      concurrentRequests: reader.integer('KEY_CONCURRENT_REQUESTS', { ...COUNT, fallback: 64 }),
    },
    account: {
      requestsPerMinute: reader.integer('ACCOUNT_REQUESTS_PER_MINUTE', { ...COUNT, fallback: 1_200 }),
      concurrentRequests: reader.integer('ACCOUNT_CONCURRENT_REQUESTS', { ...COUNT, fallback: 128 }),
    },
  };
}

/** The host of the public address is ours without being named. */
function allowedHosts(reader: ConfigReader): string[] {
  const names = reader.list('ALLOWED_HOSTS');
  const publicUrl = reader.optionalString('PUBLIC_BASE_URL');
  if (names.length === 0 || publicUrl === undefined || !URL.canParse(publicUrl)) return names;
  return [...names, new URL(publicUrl).host];
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
