import type { VideoWorkerConfig } from './video-worker.config.js';

/** The longest pause between attempts at a broken file server. */
const COPY_PAUSE_MAX_MS = 60_000;
/** The longest pause that a vendor can ask for. */
const WISH_MAX_MS = 60_000;
/** Shortens a pause by up to a quarter, so that tasks created together do not keep polling together. Never lengthens it. */
const JITTER = 0.25;

/** The result of a poll of a task that continues. */
export interface PollResult {
  progress?: number | null;
  retryAfterMs?: number | undefined;
}

/** The pause before the next poll, in milliseconds: 1.5 times the one before, up to the limit. */
export function pollPauseMs(
  attempts: number,
  config: Pick<VideoWorkerConfig, 'pollIntervalMs' | 'pollMaxMs'>,
): number {
  return jittered(Math.min(config.pollMaxMs, config.pollIntervalMs * 1.5 ** Math.max(0, attempts - 1)));
}

/** How long to pause when a vendor asks for it, in milliseconds. */
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
