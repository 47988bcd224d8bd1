import { afterEach, expect, it, vi } from 'vitest';
import { DrainedBytes, Drains, DrainTooLong } from './drains.js';

afterEach(() => {
  vi.useRealTimers();
});

function leaver(drains: Drains, accountId: string) {
  const left = new AbortController();
  const stop = new AbortController();
  const end = drains.watch(accountId, left.signal, stop);
  return { leave: () => left.abort(), stop: stop.signal, end };
}

it('reads on for a limited time after a client has left', () => {
  vi.useFakeTimers();
  const drains = new Drains({ drainMs: 1_000, perAccount: 1 });
  const one = leaver(drains, 'a');
  vi.advanceTimersByTime(5_000);
  expect(one.stop.aborted).toBe(false);
  one.leave();
  vi.advanceTimersByTime(999);
  expect(one.stop.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(one.stop.aborted).toBe(true);
});

it('gives each account its own share, which ended drains free', () => {
  const drains = new Drains({ drainMs: 60_000, perAccount: 1 });
  const [first, second, other, third] = ['a', 'a', 'b', 'a'].map((account) => leaver(drains, account));
  first?.leave();
  second?.leave();
  other?.leave();
  expect([first, second, other].map((one) => one?.stop.aborted)).toEqual([false, true, false]);
  second?.end();
  first?.end();
  third?.leave();
  expect(third?.stop.aborted).toBe(false);
  drains.stopAll();
  expect([third, other].map((one) => one?.stop.aborted)).toEqual([true, true]);
  for (const one of [other, third]) one?.end();
});

it('reads nothing for a client that left before the upstream was called', () => {
  const stop = new AbortController();
  new Drains({ drainMs: 1_000, perAccount: 1 }).watch('a', AbortSignal.abort(), stop)();
  expect(stop.signal.aborted).toBe(true);
});

it('counts only what nobody waits for, up to a limit', () => {
  const left = new AbortController();
  const drained = new DrainedBytes(left.signal);
  drained.add(Buffer.alloc(17 * 1024 * 1024));
  left.abort();
  drained.add(Buffer.alloc(1024));
  expect(() => drained.add(Buffer.alloc(16 * 1024 * 1024))).toThrow(DrainTooLong);
});
