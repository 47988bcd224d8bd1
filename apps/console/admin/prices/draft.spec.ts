import { describe, expect, it } from 'vitest';
import type { Change } from '../catalog.js';
import { amountsOf, changeFrom, draftOf, inForceFor, newDraft } from './draft.js';

const changes: [string, Change, 'call' | 'second' | 'token' | undefined][] = [
  ['a price of a call', { kind: 'price', model: 'a', price: { unitPrice: '0.02' } }, 'call'],
  [
    'a price with rates',
    {
      kind: 'price',
      model: 'a',
      price: { unitPrice: '0.25', rates: [{ when: { size: '1:1', quality: 'high' }, unitPrice: '0.167' }] },
    },
    'call',
  ],
  [
    'prices of tokens',
    { kind: 'price', model: 'b', price: { input: '1', cachedInput: '0.5', output: '4' } },
    'token',
  ],
  ['a price that is withdrawn', { kind: 'price', model: 'a', price: null }, 'call'],
  ['a multiplier', { kind: 'multiplier', group: 'g', multiplier: '1.25' }, undefined],
  ['a multiplier that is withdrawn', { kind: 'multiplier', group: 'g', multiplier: null }, undefined],
  ['a fixed price', { kind: 'rule', group: 'g', rule: 'fixed_per_call', unitPrice: '0.0002' }, undefined],
  ['list prices in place of a fixed one', { kind: 'rule', group: 'g', rule: 'none' }, undefined],
];

describe('the draft of a change', () => {
  it.each(changes)('of %s requests it again', (_, change, unit) => {
    expect(changeFrom(draftOf(change), unit)).toEqual(change);
  });

  it('requests the amounts that its model’s unit has, trimmed', () => {
    const draft = newDraft({ subject: 'b', unitPrice: ' 0.3 ', input: '1', cachedInput: '1', output: '2 ' });
    expect(amountsOf(draft, 'second')).toEqual(['unitPrice']);
    expect(changeFrom(draft, 'second')).toEqual({ kind: 'price', model: 'b', price: { unitPrice: '0.3' } });
    expect(amountsOf(draft, 'token')).toEqual(['input', 'cachedInput', 'output']);
    const price = { input: '1', cachedInput: '1', output: '2' };
    expect(changeFrom(draft, 'token')).toEqual({ kind: 'price', model: 'b', price });
    expect(amountsOf({ ...draft, isEnd: true }, 'token')).toEqual([]);
    expect(amountsOf({ ...draft, kind: 'multiplier' }, undefined)).toEqual(['multiplier']);
  });

  it('begins with what is in force for its subject', () => {
    const all = changes.slice(0, 1).map(([, change]) => change);
    expect(inForceFor({ kind: 'price', subject: 'a' }, all)).toEqual(all[0]);
    expect(inForceFor({ kind: 'multiplier', subject: 'a' }, all)).toBeNull();
  });
});
