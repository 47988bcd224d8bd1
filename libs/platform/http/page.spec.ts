import { describe, expect, it } from 'vitest';
import { pageFrom, readCursor, readCursorId, readCursorInstant, readCursorNumber } from './page.js';

const foreign = expect.objectContaining({ code: 'invalid_value', param: 'cursor' });
const cursorOf = (...key: string[]) => pageFrom([key, key], 1, (row) => row).nextCursor!;

describe('a page', () => {
  it('names where the next one begins only if there is one', () => {
    expect(pageFrom([1, 2], 2, (row) => [String(row)])).toEqual({ items: [1, 2], nextCursor: null });
    const { items, nextCursor } = pageFrom([1, 2, 3], 2, (row) => [String(row)]);
    expect(items).toEqual([1, 2]);
    expect(readCursor(nextCursor!, 1)).toEqual(['2']);
    expect(pageFrom([], 2, () => [])).toEqual({ items: [], nextCursor: null });
  });
});

describe('a cursor', () => {
  it('is read as what it contains; none means the first page', () => {
    expect(readCursorId(cursorOf('a-b'))).toBe('a-b');
    expect(readCursorNumber(cursorOf('999999999999999999'))).toBe(999_999_999_999_999_999n);
    const key = ['2026-01-31 09:00:00.123456+00', 'x'];
    expect(readCursorInstant(cursorOf(...key), 2)).toEqual(key);
    expect([readCursorId(undefined), readCursorNumber(undefined), readCursorInstant(undefined, 2)]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it.each([
    ['of another list', () => readCursor(cursorOf('a', 'b'), 1)],
    ['that is not JSON', () => readCursorId('%%%')],
    ['that is not text', () => readCursorId(Buffer.from('[1]').toString('base64url'))],
    ['that the database would not accept', () => readCursorId(cursorOf('a\u0000'))],
    ['with letters instead of a number', () => readCursorNumber(cursorOf('x'))],
    ['with a number too large for any column', () => readCursorNumber(cursorOf('1'.repeat(19)))],
    ['with a day that does not exist', () => readCursorInstant(cursorOf('2026-02-31 09:00:00+00', 'x'), 2)],
  ])('%s is refused by name', (_, read) => {
    expect(read).toThrow(foreign);
  });
});
