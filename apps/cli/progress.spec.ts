import { describe, expect, it } from 'vitest';
import { countedOn } from './progress.js';

async function* numbers(): AsyncGenerator<number> {
  yield* [1, 2, 3];
}

async function read(isTTY: boolean): Promise<{ items: number[]; shown: string }> {
  let shown = '';
  const output = { isTTY, write: (text: string) => (shown += text) };
  const items: number[] = [];
  const counting = { sizeOf: () => 1, words: (sum: number) => `${sum} requests` };
  for await (const item of countedOn(numbers(), counting, output)) items.push(item);
  return { items, shown };
}

describe('progress with a file of unknown length', () => {
  it('is counted on a terminal, and its line is removed', async () => {
    const { items, shown } = await read(true);
    expect(items).toEqual([1, 2, 3]);
    expect(shown).toMatch(/^\r1 requests/);
    expect(shown.endsWith('\r\u001b[K')).toBe(true);
  });

  it('is not shown if there is no terminal', async () => {
    expect(await read(false)).toEqual({ items: [1, 2, 3], shown: '' });
  });
});
