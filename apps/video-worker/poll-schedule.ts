import type { VideoWorkerConfig } from './video-worker.config.js';

/** In the end, a broken file server is not asked more often than this. */
const COPY_PAUSE_MAX_MS = 60_000;
/** No vendor's wish keeps a task waiting longer. */
const WISH_MAX_MS = 60_000;
/** A quarter less at most, so that tasks made together do not poll together again and again, and none asks later than it may. */
const JITTER = 0.25;

/** The result of a poll of a task that continues. */
export interface PollResult {
  progress?: number | null;
  retryAfterMs?: number | undefined;
}

/** The pause before the next poll, in milliseconds: half as long again each time, up to the limit. */
export function pollPauseMs(
  attempts: number,
  config: Pick<VideoWorkerConfig, 'pollIntervalMs' | 'pollMaxMs'>,
): number {
  return jittered(Math.min(config.pollMaxMs, config.pollIntervalMs * 1.5 ** Math.max(0, attempts - 1)));
}

/** How long a vendor that asks for a pause is left alone, in milliseconds. */
export function wishedMs(retryAfterMs = 0): number {
  return Math.min(retryAfterMs, WISH_MAX_MS);
}

/** The pause before a file is tried again after `failures` failures, in milliseconds. */
export function copyPauseMs(failures: number, config: Pick<VideoWorkerConfig, 'copyBackoffMs'>): number {
  return jittered(Math.min(COPY_PAUSE_MAX_MS, config.copyBackoffMs * 2 ** Math.max(0, failures - 1)));
}

function jittered(ms: number): number {
  return Math.round(ms * (1 - Math.random() * JITTER));
}
