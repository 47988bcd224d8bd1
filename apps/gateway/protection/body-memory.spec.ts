import { expect, it } from 'vitest';
import { systemClock } from '#platform/clock.js';
import { Registry } from '#platform/metrics.js';
import { BodyMemory, MemoryShare } from './body-memory.js';

const MEGABYTE = 1024 * 1024;

function memoryOf(capacity: number) {
  const registry = new Registry();
  const memory = new BodyMemory(capacity, { registry, clock: systemClock });
  const taken = async () =>
    (await registry.getSingleMetric('gateway_body_memory_bytes')?.get())?.values[0]?.value ?? NaN;
  return { memory, taken };
}

it('counts a body again whose handler begins after its client has left', async () => {
  const { memory, taken } = memoryOf(8 * MEGABYTE);
  const share = new MemoryShare(memory, 'alice');
  const closed = share.use();
  share.add(2 * MEGABYTE);
  expect(await taken()).toBe(2 * MEGABYTE);
  closed();
  expect(await taken()).toBe(0);
  const done = share.use();
  expect(await taken()).toBe(2 * MEGABYTE);
  share.add(MEGABYTE);
  expect(await taken()).toBe(3 * MEGABYTE);
  done();
  expect(await taken()).toBe(0);
});

it('does not begin such a handler once others have taken the memory', async () => {
  const { memory, taken } = memoryOf(8 * MEGABYTE);
  const share = new MemoryShare(memory, 'alice');
  const closed = share.use();
  share.add(4 * MEGABYTE);
  closed();
  const other = memory.take('bob', 6 * MEGABYTE);
  expect(other.granted).toBe(true);
  expect(() => share.use()).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
  expect(await taken()).toBe(6 * MEGABYTE);
});

it('takes nothing for what comes after a refusal, which nobody would release', async () => {
  const { memory, taken } = memoryOf(8 * MEGABYTE);
  const share = new MemoryShare(memory, 'alice');
  const closed = share.use();
  share.add(2 * MEGABYTE);
  closed();
  share.add(2 * MEGABYTE);
  expect(await taken()).toBe(0);
});
