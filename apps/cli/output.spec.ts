import { expect, it } from 'vitest';
import { right, table } from './output.js';

const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => [`row ${at}`, String(at)]);

it('a table shows titles over cells, numbers on the right', () => {
  expect(table(['Name', right('Cost')], rowsOf(2)).split('\n')).toEqual([
    ' Name   Cost ',
    ' row 0     0 ',
    ' row 1     1 ',
  ]);
});

it('a long table has the same width throughout, and one line per row', () => {
  const lines = table(['Name', right('Cost')], rowsOf(5_000)).split('\n');
  expect(lines).toHaveLength(5_001);
  expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
  expect(lines.at(-1)).toBe(' row 4999  4999 ');
});
