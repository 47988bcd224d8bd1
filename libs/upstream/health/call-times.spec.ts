import { expect, it } from 'vitest';
import { CallTimes } from './call-times.js';

it('knows nothing before the first call', () => {
  const times = new CallTimes();
  expect(times.figures).toEqual({ p50Ms: null, p99Ms: null, latencyMs: null });
  times.note(3, false);
  expect(times.figures).toEqual({ p50Ms: 3, p99Ms: 3, latencyMs: null });
});

it('measures latency by served calls, not by how quickly others failed', () => {
  const times = new CallTimes();
  for (const tookMs of [900, 1_000, 1_100]) times.note(tookMs, true);
  for (let failed = 0; failed < 50; failed += 1) times.note(2, false);
  expect(times.figures).toEqual({ p50Ms: 2, p99Ms: 1_100, latencyMs: 1_000 });
});

it('forgets after twenty served calls how long earlier ones took', () => {
  const times = new CallTimes();
  for (let call = 0; call < 200; call += 1) times.note(50, true);
  for (let call = 0; call < 10; call += 1) times.note(4_000, true);
  expect(times.latencyMs).toBe(50);
  times.note(4_000, true);
  expect(times.figures).toMatchObject({ p50Ms: 50, latencyMs: 4_000 });
});
