import { describe, expect, it } from 'vitest';
import type { CreateOutcome, ImagesDelivered } from './outcomes.js';
import { type ImagesPending, waitForImages } from './polled-images.js';

const accepted: CreateOutcome = { kind: 'accepted', upstreamId: 'a', upstreamStatus: 200 };
const delivered: ImagesDelivered = { kind: 'delivered', images: [{ url: 'x' }], upstreamStatus: 200 };
/** Timers may fire slightly early. */
const EARLY_MS = 5;

/** Waits, with these answers to its polls, and reports when each was requested and what was cancelled. */
async function waited(answers: (ImagesPending | ImagesDelivered)[], isOverAfterPoll = false) {
  const askedAt: number[] = [];
  const cancelled: string[] = [];
  const limit = new AbortController();
  const outcome = await waitForImages(accepted, {
    poll: async () => {
      askedAt.push(performance.now());
      if (isOverAfterPoll) setImmediate(() => limit.abort());
      return answers[askedAt.length - 1] ?? { kind: 'pending' };
    },
    cancel: async (id) => void cancelled.push(id),
    signal: limit.signal,
  });
  return { outcome, askedAt, cancelled };
}

describe('waiting for images', () => {
  it('polls until they are there', async () => {
    const { outcome, askedAt, cancelled } = await waited([{ kind: 'pending' }, delivered]);
    expect(outcome).toBe(delivered);
    expect(askedAt).toHaveLength(2);
    expect(cancelled).toEqual([]);
  });

  it('leaves a vendor alone for as long as it asks', async () => {
    const { askedAt } = await waited([{ kind: 'pending', retryAfterMs: 600 }, delivered]);
    expect(askedAt[1]! - askedAt[0]!).toBeGreaterThanOrEqual(600 - EARLY_MS);
  });

  it('does not wait longer than its limit, whatever the vendor asks, and says that nobody is waiting', async () => {
    const { outcome, askedAt, cancelled } = await waited(
      [{ kind: 'pending', retryAfterMs: 3_600_000 }],
      true,
    );
    expect(outcome).toMatchObject({ kind: 'unknown', upstreamStatus: null });
    expect([askedAt.length, cancelled]).toEqual([1, ['a']]);
  });

  it('polls nothing that was not accepted', async () => {
    const refused = { kind: 'not_accepted' as const, reason: 'no', upstreamStatus: 429 };
    const poll = () => Promise.reject(new Error('asked'));
    const cancel = () => Promise.reject(new Error('cancelled'));
    const waiting = { poll, cancel, signal: AbortSignal.timeout(60_000) };
    expect(await waitForImages(refused, waiting)).toBe(refused);
  });
});
