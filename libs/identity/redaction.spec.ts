import { expect, it } from 'vitest';
import fc from 'fast-check';
import { withoutAddresses, withoutAddressesIn } from './redaction.js';

it('replaces addresses in a text and leaves the rest', () => {
  expect(withoutAddresses('Ada <ada@example.com>, and bob+x@mail.example.org asked.')).toBe(
    'Ada <[e-mail]>, and [e-mail] asked.',
  );
  expect(withoutAddresses('two @ signs, 5 @ 3, none of them an address')).toBe(
    'two @ signs, 5 @ 3, none of them an address',
  );
});

it('leaves no address in any text of a JSON value, and keeps its shape', () => {
  expect(
    withoutAddressesIn({ note: 'a@b.cd', list: ['x', { deep: 'me@example.com' }], count: 3, none: null }),
  ).toEqual({ note: '[e-mail]', list: ['x', { deep: '[e-mail]' }], count: 3, none: null });
});

it('keeps IDs, whatever they contain', () => {
  const payment = { paymentId: 'ada@bank.example', line: { lineId: 'a@b.cd' } };
  expect(withoutAddressesIn(payment)).toEqual(payment);
});

it('finds every address, whatever surrounds it', () => {
  fc.assert(
    fc.property(fc.emailAddress(), fc.string(), fc.string(), (address, before, after) => {
      const text = withoutAddresses(`${before} ${address} ${after}`);
      expect(text).not.toContain(` ${address} `);
    }),
  );
});
