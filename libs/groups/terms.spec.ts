import { expect, it } from 'vitest';
import { parseDecimal } from '#money/amount.js';
import {
  fixedPriceAt,
  type GroupBook,
  groupRuleOf,
  groupTermsAt,
  groupTermsNamed,
  wereTermsInForce,
} from './terms.js';

const always = -Infinity;

const book: GroupBook = {
  multipliers: new Map([
    [
      'Relay',
      [
        { id: 1n, effectiveFromMs: always, value: parseDecimal('2') },
        { id: 2n, effectiveFromMs: 1_000, value: parseDecimal('3') },
        { id: 3n, effectiveFromMs: 5_000, value: null },
      ],
    ],
  ]),
  groupRules: new Map([
    [
      'Relay',
      [
        { id: 4n, effectiveFromMs: 2_000, value: groupRuleOf('0.0002') },
        { id: 5n, effectiveFromMs: 3_000, value: groupRuleOf(null) },
      ],
    ],
  ]),
  access: new Map(),
};

const at = (atMs: number, unit = 'call') => groupTermsAt(book, { group: 'Relay', unit, atMs });

it('multiplies the list price by the version in force, to the millisecond', () => {
  expect(at(999)).toMatchObject({ rule: 'list', multiplier: { digits: 2n }, multiplierVersionId: 1n });
  expect(at(1_000)).toMatchObject({ rule: 'list', multiplier: { digits: 3n }, multiplierVersionId: 2n });
});

it('replaces list price and multiplier with a fixed price, for calls, while the rule is in force', () => {
  const fixed = { rule: 'fixed_per_call', fixedPrice: { digits: 2n, scale: 4 }, groupRuleVersionId: 4n };
  expect(at(2_000)).toMatchObject({
    ...fixed,
    multiplier: { digits: 1n, scale: 0 },
    multiplierVersionId: 2n,
  });
  expect(at(2_000, 'second')).toMatchObject({ rule: 'list', fixedPrice: null, groupRuleVersionId: null });
  expect(at(3_000)).toMatchObject({ rule: 'list', fixedPrice: null, multiplier: { digits: 3n } });
  expect([1_999, 2_000, 3_000].map((atMs) => fixedPriceAt(book, 'Relay', atMs) !== null)).toEqual([
    false,
    true,
    false,
  ]);
});

it('sells nothing in a group without a multiplier', () => {
  expect(at(5_000)).toBeNull();
  expect(groupTermsAt(book, { group: 'Nobody', unit: 'call', atMs: 0 })).toBeNull();
});

it('finds the terms that a charge names, whatever is in force now, and whether they were in force then', () => {
  const named = { group: 'Relay', multiplierVersionId: 2n, groupRuleVersionId: 4n };
  expect(groupTermsNamed(book, named)).toEqual(at(2_000));
  expect([1_999, 2_000, 2_999, 3_000].map((atMs) => wereTermsInForce(book, named, atMs))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(groupTermsNamed(book, { ...named, multiplierVersionId: 99n })).toBeNull();
});
