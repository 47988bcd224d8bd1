import { describe, expect, it } from 'vitest';
import { namesEtag, readByteRange } from './file-answer.js';

describe('readRange', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=10-', { start: 10, end: 99 }],
    ['bytes=90-500', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-500', { start: 0, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-2', null],
    ['bytes=-', null],
    ['bytes=0-1,4-5', null],
    ['items=0-1', null],
    [`bytes=${'9'.repeat(400)}-`, null],
    [undefined, null],
  ])('reads %s of 100 bytes', (header, range) => {
    expect(readByteRange(header, 100)).toEqual(range);
  });
});

describe('namesEtag', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", W/"a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    ['', false],
    [undefined, false],
  ])('%s: %s', (header, isNamed) => {
    expect(namesEtag(header, '"a"')).toBe(isNamed);
  });
});
