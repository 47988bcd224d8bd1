import { describe, expect, it } from 'vitest';
import { eachInTurn, waitAtMost } from './waiting.js';

describe('work in turn', () => {
  it('is all done, even after something fails', async () => {
    const done: number[] = [];
    const work = async (item: number) => {
      if (item === 2) throw new Error('two');
      done.push(item);
    };
    await expect(eachInTurn([1, 2, 3], work)).rejects.toThrow('two');
    expect(done).toEqual([1, 3]);
  });

  it('reports everything that failed', async () => {
    const failing = eachInTurn(['a', 'b'], async (item) => {
      throw new Error(item);
    });
    await expect(failing).rejects.toMatchObject({ errors: [new Error('a'), new Error('b')] });
  });

  it('ends on its signal', async () => {
    const stop = new AbortController();
    const done: number[] = [];
    await eachInTurn(
      [1, 2, 3],
      async (item) => {
        done.push(item);
        if (item === 2) stop.abort();
      },
      stop.signal,
    );
    expect(done).toEqual([1, 2]);
  });
});

it('waiting ends with the work, or at its limit', async () => {
  const never = new Promise(() => undefined);
  await waitAtMost(1, never);
  const work = Promise.withResolvers<void>();
  let isOver = false;
  const waiting = waitAtMost(1_000_000, work.promise).then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  work.resolve();
  await waiting;
});
