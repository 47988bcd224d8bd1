import { expect, it } from 'vitest';
import { momentOf } from './moment-of.js';

it.each([
  ['2026-11-23 05:10:59.123456+00', '2026-11-23T05:10:59.123456Z'],
  ['2026-11-23T05:10:59.123456Z', '2026-11-23T05:10:59.123456Z'],
  ['2026-11-23', null],
  ['13.00 USD', null],
])('knows whether %s is a time', (detail, time) => {
  expect(momentOf(detail)).toBe(time);
});
