import { beforeEach, expect, it } from 'vitest';
import { KeptValues } from './kept-values.js';

let kept: KeptValues<{ of: string }>;
const keep = (...keys: string[]) => keys.forEach((key) => kept.set(key, { of: key }));
const found = (...keys: string[]) => keys.filter((key) => kept.get(key)?.of === key);

beforeEach(() => {
  kept = new KeptValues(3);
});

it('keeps the values requested last, as many as there is room for', () => {
  keep('a', 'b', 'c', 'd');
  expect(found('a', 'b', 'c', 'd')).toEqual(['b', 'c', 'd']);
});

it('keeps values that were requested again, however many keys somebody makes up', () => {
  keep('shared');
  expect(found('shared')).toEqual(['shared']);
  keep(...Array.from({ length: 1_000 }, (_, made) => `made up ${made}`));
  expect(found('shared', 'made up 0', 'made up 999')).toEqual(['shared', 'made up 999']);
});

it('limits those that were requested again, too', () => {
  for (const key of ['a', 'b', 'c', 'd']) {
    keep(key);
    found(key);
  }
  expect(found('a', 'b', 'c', 'd')).toEqual(['b', 'c', 'd']);
});

it('has the newest value of a key', () => {
  keep('a');
  kept.get('a');
  kept.set('a', { of: 'another' });
  expect(kept.get('a')).toEqual({ of: 'another' });
});
