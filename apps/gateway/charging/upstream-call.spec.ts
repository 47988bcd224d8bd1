import { describe, expect, it } from 'vitest';
import { callUpstream } from './upstream-call.js';

describe('an upstream call', () => {
  it('returns what the upstream answered', async () => {
    const ended: string[] = [];
    const outcome = await callUpstream(async () => ({ kind: 'delivered' as const }), {
      limitMs: 1_000,
      onEnd: ({ kind }) => ended.push(kind),
      onFault: () => ended.push('fault'),
    });
    expect(outcome).toEqual({ kind: 'delivered' });
    expect(ended).toEqual(['delivered']);
  });

  it('is unknown if something on our side breaks, so that the hold is resolved', async () => {
    const faults: unknown[] = [];
    const broken = new TypeError('x is undefined');
    const outcome = await callUpstream<{ kind: 'delivered' }>(() => Promise.reject(broken), {
      limitMs: 1_000,
      onEnd: () => undefined,
      onFault: (error) => faults.push(error),
    });
    expect(outcome).toMatchObject({ kind: 'unknown', upstreamStatus: null });
    expect(faults).toEqual([broken]);
  });

  it('is aborted at its time limit', async () => {
    const outcome = await callUpstream(
      (signal) =>
        new Promise<{ kind: 'aborted' }>((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'aborted' }));
        }),
      { limitMs: 5, onEnd: () => undefined, onFault: () => undefined },
    );
    expect(outcome.kind).toBe('aborted');
  });
});
