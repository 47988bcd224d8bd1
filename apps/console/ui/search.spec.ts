import { describe, expect, it } from '@jest/globals';
import { anyDay, oneOf, ownPath, parseSearch, searchOf, stringifySearch, anyText } from './search.js';

describe('the state in the address', () => {
  const read = searchOf({ text: anyText, from: anyDay, sort: oneOf('name', 'price') });

  it('keeps what makes sense and drops the rest', () => {
    expect(read({ text: 'boat', from: '2026-01-31', sort: 'price', other: '1' })).toEqual({
      text: 'boat',
      from: '2026-01-31',
      sort: 'price',
    });
    expect(read({ text: '', from: 'yesterday', sort: 'size' })).toEqual({});
  });

  it('is plain to read, and the same there and back', () => {
    const state = { text: '100 %', cursor: 'WyIxIl0' };
    expect(stringifySearch({ ...state, sort: undefined })).toBe('?text=100+%25&cursor=WyIxIl0');
    expect(parseSearch(stringifySearch(state))).toEqual(state);
    expect(stringifySearch({})).toBe('');
  });

  it('leads to no other site', () => {
    expect(ownPath('/wallet?x=1#y')).toBe('/wallet?x=1#y');
    for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', 'wallet', ''])
      expect(ownPath(path)).toBeUndefined();
  });
});
