import { expect, it } from 'vitest';
import { name } from './fields.js';

it.each(['Ünal 🙂', '家庭 👨‍👩‍👧', 'חשבון', 'حساب ۱'])('a name may be %s', (text) => {
  expect(name.parse(text)).toBe(text);
});

it.each([
  ['a line break', 'a\nb'],
  ['a line break of Unicode', 'a\u2028b'],
  ['a control character', 'a\u009bb'],
  ['what turns text around', 'paid \u202ea'],
  ['what isolates text', 'a\u2067b'],
])('a name has no %s', (_, text) => {
  expect(name.safeParse(text).error?.issues[0]?.message).toBe('must be one line without control characters');
});
