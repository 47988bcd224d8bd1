import type { ConfigReader } from '#platform/config.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import { readStorageConfig } from '#storage/storage.config.js';

/** Settings of the worker; durations in milliseconds. */
export interface VideoWorkerConfig {
  /** Decrypts the keys of channels. */
  secrets: SecretBox;
  /** Tasks that one worker polls at the same time; each needs a connection until it is answered. */
  concurrency: number;
  /** Finished files that it copies at the same time. */
  copyConcurrency: number;
  /** The pause between the first two polls of a task. It grows up to `pollMaxMs`, which limits how late an end is noticed. */
  pollIntervalMs: number;
  pollMaxMs: number;
  /** How many failed calls in a row pause a channel, and for how long before one task tries it. */
  channelFailuresToOpen: number;
  channelOpenMs: number;
  /** After this time, a dead worker's tasks go to others. */
  leaseMs: number;
  sweepIntervalMs: number;
  /** A task that stays `created` or `submitting` for this long has lost its gateway. */
  stuckAfterMs: number;
  /** How long the credits of a task are held, from its create, while it is unclear whether the upstream accepted it. */
  unclearCreateMs: number;
  /** How long a finished video may be downloaded. */
  videoFileLifeMs: number;
  /** How long an image's URL works; its file is removed after that. */
  imageUrlLifeMs: number;
  /** How long the answer to an Idempotency-Key is kept. A file left over from it is removed after that. */
  idempotencyLifeMs: number;
  /** Attempts to copy a finished file before the task fails. */
  copyAttempts: number;
  /** The pause before the second attempt; doubles up to a minute. */
  copyBackoffMs: number;
  catalogLifeMs: number;
  /** How often it reports its state. */
  reportMs: number;
  /** Pause between polls of the outbox, in case a wake-up was missed. */
  outboxPollMs: number;
}

/** The program's own configuration. */
export function readVideoWorkerProgram(reader: ConfigReader) {
  return { storage: readStorageConfig(reader), config: readVideoWorkerConfig(reader) };
}

/** Reads the worker's part of the configuration; `reader.finish()` reports the faults. */
export function readVideoWorkerConfig(reader: ConfigReader): VideoWorkerConfig {
  return {
    secrets: readSecrets(reader),
    concurrency: reader.get('WORKER_CONCURRENCY'),
    copyConcurrency: reader.get('WORKER_COPIES'),
    pollIntervalMs: reader.get('POLL_INTERVAL_SECONDS'),
    pollMaxMs: reader.get('POLL_MAX_SECONDS'),
    channelFailuresToOpen: reader.get('CHANNEL_FAILURES_TO_OPEN'),
    channelOpenMs: reader.get('CHANNEL_OPEN_SECONDS'),
    leaseMs: reader.get('LEASE_SECONDS'),
    sweepIntervalMs: reader.get('SWEEP_INTERVAL_SECONDS'),
    stuckAfterMs: reader.get('STUCK_AFTER_SECONDS'),
    unclearCreateMs: reader.get('UNCLEAR_CREATE_SECONDS'),
    videoFileLifeMs: reader.get('VIDEO_FILE_LIFE_SECONDS'),
    imageUrlLifeMs: reader.get('IMAGE_URL_LIFE_SECONDS'),
    idempotencyLifeMs: reader.get('IDEMPOTENCY_LIFE_SECONDS'),
    copyAttempts: reader.get('FILE_COPY_ATTEMPTS'),
    copyBackoffMs: reader.get('FILE_COPY_BACKOFF_SECONDS'),
    catalogLifeMs: reader.get('CATALOG_LIFE_SECONDS'),
    reportMs: reader.get('REPORT_SECONDS'),
    outboxPollMs: reader.get('OUTBOX_POLL_SECONDS'),
  };
}
