import { expect, it } from 'vitest';
import { Turns } from './turns.js';

it('members take turns, however much one of them asks for', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const ask = (member: string, piece: string) => turns.take(member, () => done.push(piece));
  const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((piece) => ask(piece[0]!, piece));
  await asked[1];
  const late = ask('c', 'c1');
  await Promise.all([...asked, late]);
  expect(done).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'c1', 'a4']);
});

it('others are served between two pieces of work', async () => {
  const turns = new Turns();
  let served = 0;
  const timer = setInterval(() => (served += 1), 0);
  const seen = await Promise.all([1, 2, 3, 4].map(() => turns.take('a', () => served)));
  clearInterval(timer);
  expect(new Set(seen).size).toBeGreaterThan(1);
});

it('work that fails keeps nobody from their turn', async () => {
  const turns = new Turns();
  const failing = turns.take('a', () => {
    throw new Error('bad');
  });
  const next = turns.take('a', () => 'next');
  await expect(failing).rejects.toThrow('bad');
  expect(await next).toBe('next');
  expect(await turns.take('b', () => 'later')).toBe('later');
});
