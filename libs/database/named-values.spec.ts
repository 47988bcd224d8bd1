import { expect, it } from 'vitest';
import { named } from './named-values.js';

it('numbers values by their names, each once, and leaves casts alone', () => {
  expect(named('SELECT :from::date, :to::date WHERE :from < :to', { to: 2, from: 1 })).toEqual({
    text: 'SELECT $1::date, $2::date WHERE $1 < $2',
    values: [1, 2],
  });
});

it('passes only what the query names', () => {
  expect(named('SELECT :a', { a: null, b: 2 })).toEqual({ text: 'SELECT $1', values: [null] });
});

it('refuses a name without a value', () => {
  expect(() => named('SELECT :since', { from: 1 })).toThrow('the query names since, which is not given');
});
