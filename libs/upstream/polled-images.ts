import { setTimeout as pauseTimer } from 'node:timers/promises';
import type { CreateOutcome, ImageOutcome, PollOutcome } from './outcomes.js';

/** Nothing is known about the images yet. */
export interface ImagesPending {
  kind: 'pending';
  /** How long the vendor asks us to wait. */
  retryAfterMs?: number | undefined;
}

/** A poll that does not end a task. */
export function pendingAfter(outcome: PollOutcome): ImagesPending {
  return { kind: 'pending', retryAfterMs: outcome.kind === 'no_answer' ? outcome.retryAfterMs : undefined };
}

interface Waiting {
  /** Polls the images of a task. Anything unclear is `pending`. */
  poll: (upstreamId: string) => Promise<ImageOutcome | ImagesPending>;
  /** Called once when nobody is waiting any more, if the vendor supports cancelling. */
  cancel?: (upstreamId: string) => Promise<void>;
  /** The limit of the whole call. */
  signal: AbortSignal;
}

/** Images take seconds: early enough not to add to them, late enough to stay far below any vendor's limit. */
const PAUSE = { firstMs: 250, longestMs: 2_000, growth: 1.5 };
/** No vendor's request makes a client wait longer. */
const LONGEST_WISH_MS = 60_000;

/**
 * The images of a vendor that answers a create with a task. The task is polled within the call. A program that dies
 * meanwhile leaves a charge that is released at its deadline, and the create is never sent again.
 */
export async function waitForImages(created: CreateOutcome, waiting: Waiting): Promise<ImageOutcome> {
  if (created.kind !== 'accepted') return created;
  const { upstreamId } = created;
  const { poll, cancel, signal } = waiting;
  for (let pauseMs = PAUSE.firstMs; ; pauseMs = Math.min(pauseMs * PAUSE.growth, PAUSE.longestMs)) {
    const outcome = await poll(upstreamId);
    if (outcome.kind !== 'pending') return outcome;
    const wishedMs = Math.min(outcome.retryAfterMs ?? 0, LONGEST_WISH_MS);
    await pauseTimer(Math.max(pauseMs, wishedMs), undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) continue;
    void cancel?.(upstreamId);
    return { kind: 'unknown', reason: 'the images were not ready in time', upstreamStatus: null };
  }
}
