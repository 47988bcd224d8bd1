import type { ConfigReader } from '#platform/config.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import { DEFAULT_UNCLEAR_MS } from '#tasks/task-queue.store.js';

/** How the worker works; every duration is in milliseconds. */
export interface VideoWorkerConfig {
  /** Opens the keys of channels. */
  secrets: SecretBox;
  /** Tasks that one worker asks about at the same time; each takes a connection for as long as the answer takes. */
  concurrency: number;
  /** Finished files that it copies at the same time. */
  copyConcurrency: number;
  /** Between the first two polls of a task; the pause grows up to `pollMaxMs`, which bounds how late an end is noticed. */
  pollIntervalMs: number;
  pollMaxMs: number;
  /** Failed calls in a row after which a channel is left alone, for so long before one task tries it. */
  channelFailuresToOpen: number;
  channelOpenMs: number;
  /** A worker that dies gives its tasks back after this. */
  leaseMs: number;
  sweepIntervalMs: number;
  /** A task that stays `created` or `submitting` for so long has lost its gateway. */
  stuckAfterMs: number;
  /** How long the money of a task is held, from its create, while nobody knows whether the upstream took it. */
  unclearCreateMs: number;
  /** How long a finished video may be downloaded. */
  videoFileLifeMs: number;
  /** How long the address of an image works; its file is removed after that. */
  imageUrlLifeMs: number;
  /** How long the answer to an Idempotency-Key is kept; a file of it that was left behind is removed after that. */
  idempotencyLifeMs: number;
  /** Times that a finished file is tried before the task fails. */
  copyAttempts: number;
  /** Before the second try to copy; doubles up to a minute. */
  copyBackoffMs: number;
  catalogLifeMs: number;
  /** How often it says how it is. */
  reportMs: number;
  /** The net under the waking of the outbox relay. */
  outboxPollMs: number;
}

/** Reads the worker's part of the configuration; faults are told by `reader.finish()`. */
export function readVideoWorkerConfig(reader: ConfigReader): VideoWorkerConfig {
  return {
    secrets: readSecrets(reader),
    concurrency: reader.integer('WORKER_CONCURRENCY', { fallback: 256, min: 1, max: 10_000 }),
    copyConcurrency: reader.integer('WORKER_COPIES', { fallback: 32, min: 1, max: 10_000 }),
    pollIntervalMs: reader.seconds('POLL_INTERVAL_SECONDS', 1),
    pollMaxMs: reader.seconds('POLL_MAX_SECONDS', 8),
    channelFailuresToOpen: reader.integer('CHANNEL_FAILURES_TO_OPEN', {
      fallback: 5,
      min: 1,
      max: 1_000_000,
    }),
    channelOpenMs: reader.seconds('CHANNEL_OPEN_SECONDS', 10),
    leaseMs: reader.seconds('LEASE_SECONDS', 30),
    sweepIntervalMs: reader.seconds('SWEEP_INTERVAL_SECONDS', 5),
    stuckAfterMs: reader.seconds('STUCK_AFTER_SECONDS', 30),
    unclearCreateMs: reader.seconds('UNCLEAR_CREATE_SECONDS', DEFAULT_UNCLEAR_MS / 1000),
    videoFileLifeMs: reader.seconds('VIDEO_FILE_LIFE_SECONDS', 1500),
    imageUrlLifeMs: reader.seconds('IMAGE_URL_LIFE_SECONDS', 3600),
    idempotencyLifeMs: reader.seconds('IDEMPOTENCY_LIFE_SECONDS', 86_400),
    copyAttempts: reader.integer('FILE_COPY_ATTEMPTS', { fallback: 8, min: 1, max: 1000 }),
    copyBackoffMs: reader.seconds('FILE_COPY_BACKOFF_SECONDS', 1),
    catalogLifeMs: reader.seconds('CATALOG_LIFE_SECONDS', 30),
    reportMs: reader.seconds('REPORT_SECONDS', 5),
    outboxPollMs: reader.seconds('OUTBOX_POLL_SECONDS', 0.25),
  };
}
