import { describe, expect, it } from 'vitest';
import {
  anyDay,
  anyGroup,
  anyId,
  anyModel,
  anyTime,
  oneOf,
  ownPath,
  parseSearch,
  searchOf,
  stringifySearch,
  anyText,
} from './search.js';

describe('the state in the address', () => {
  const read = searchOf({ text: anyText, from: anyDay, sort: oneOf('name', 'price') });

  it('keeps what makes sense and drops the rest', () => {
    expect(read({ text: 'boat', from: '2026-01-31', sort: 'price', other: '1' })).toEqual({
      text: 'boat',
      from: '2026-01-31',
      sort: 'price',
    });
    expect(read({ text: '', from: 'yesterday', sort: 'size' })).toStrictEqual({
      text: undefined,
      from: undefined,
      sort: undefined,
    });
  });

  it('is readable, and survives being written and read', () => {
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

it('accepts IDs and names that the server accepts', () => {
  const read = searchOf({ keyId: anyId, model: anyModel, group: anyGroup });
  const known = { keyId: '01kb0000000000000000000000', model: 'vendor/some-model:1', group: 'Vendora-Main' };
  expect(read(known)).toEqual(known);
  expect(read({ keyId: 'nobody', model: 'x/', group: 'a b' })).toEqual({});
});

it('accepts days and times that exist, and no others', () => {
  const read = searchOf({ from: anyDay, at: anyTime });
  const known = { from: '2024-02-29', at: '2026-03-01T09:05:00.000Z' };
  expect(read(known)).toEqual(known);
  for (const from of ['2026-02-30', '2026-99-99', '2026-2-3', 'yesterday'])
    expect(read({ from }).from).toBeUndefined();
  for (const at of ['2026-99-01T00:00:00Z', '+275760-09-13T00:00:00Z', '2026-03-01', 'yesterday'])
    expect(read({ at }).at).toBeUndefined();
});
