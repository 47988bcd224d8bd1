import type { ConfigReader } from '#platform/config.js';
import { readSecrets } from '#platform/sealed-secret.js';
import { readStorageConfig } from '#storage/storage.config.js';

/** The program's own configuration. */
export function readVideoWorkerProgram(reader: ConfigReader) {
  return { storage: readStorageConfig(reader), config: readVideoWorkerConfig(reader) };
}

const SETTINGS = {
  /** Tasks that one worker polls at the same time; each needs a connection until it is answered. */
  concurrency: 'WORKER_CONCURRENCY',
  /** Finished files that it copies at the same time. */
  copyConcurrency: 'WORKER_COPIES',
  /** The pause between the first two polls of a task. It grows up to `pollMaxMs`, which limits how late an end is noticed. */
  pollIntervalMs: 'POLL_INTERVAL_SECONDS',
  pollMaxMs: 'POLL_MAX_SECONDS',
  /** How many failed calls in a row pause a channel, and for how long before one task tries it. */
  channelFailuresToOpen: 'CHANNEL_FAILURES_TO_OPEN',
  channelOpenMs: 'CHANNEL_OPEN_SECONDS',
  /** After this time, a dead worker's tasks go to others. */
  leaseMs: 'LEASE_SECONDS',
  sweepIntervalMs: 'SWEEP_INTERVAL_SECONDS',
  /** A task that stays `created` or `submitting` for this long has lost its gateway. */
  stuckAfterMs: 'STUCK_AFTER_SECONDS',
  /** How long the credits of a task are held, from its create, while it is unclear whether the upstream accepted it. */
  unclearCreateMs: 'UNCLEAR_CREATE_SECONDS',
  /** How long a finished video may be downloaded. */
  videoFileLifeMs: 'VIDEO_FILE_LIFE_SECONDS',
  /** How long an image's URL works; its file is removed after that. */
  imageUrlLifeMs: 'IMAGE_URL_LIFE_SECONDS',
  /** How long the answer to an Idempotency-Key is kept. A file left over from it is removed after that. */
  idempotencyLifeMs: 'IDEMPOTENCY_LIFE_SECONDS',
  /** Attempts to copy a finished file before the task fails. */
  copyAttempts: 'FILE_COPY_ATTEMPTS',
  /** The pause before the second attempt; doubles up to a minute. */
  copyBackoffMs: 'FILE_COPY_BACKOFF_SECONDS',
  catalogLifeMs: 'CATALOG_LIFE_SECONDS',
  /** How often it reports its state. */
  reportMs: 'REPORT_SECONDS',
  /** Pause between polls of the outbox, in case a wake-up was missed. */
  outboxPollMs: 'OUTBOX_POLL_SECONDS',
} as const;

/** Reads the worker's part of the configuration; `reader.finish()` reports the faults. */
export function readVideoWorkerConfig(reader: ConfigReader) {
  return {
    /** Decrypts the keys of channels. */
    secrets: readSecrets(reader),
    ...reader.all(SETTINGS),
  };
}

/** Settings of the worker; durations in milliseconds. */
export type VideoWorkerConfig = ReturnType<typeof readVideoWorkerConfig>;
