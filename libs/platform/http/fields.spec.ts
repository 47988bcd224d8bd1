import { expect, it } from 'vitest';
import { name, reasonText, visibleText } from './fields.js';

it.each(['Ünal 🙂', '家庭 👨‍👩‍👧', 'חשבון', 'حساب ۱', 'नि', '…', '一\u3164', '🏳️‍🌈'])(
  'a name may be %s',
  (text) => {
    expect(name.parse(text)).toBe(text);
  },
);

it.each([
  ['a line break', 'a\nb'],
  ['a line break of Unicode', 'a\u2028b'],
  ['a control character', 'a\u009bb'],
  ['what turns text around', 'paid \u202ea'],
  ['what isolates text', 'a\u2067b'],
])('a name has no %s', (_, text) => {
  expect(name.safeParse(text).error?.issues[0]?.message).toBe('must be one line without control characters');
});

it.each([
  ['zero-width spaces', '\u200b\u200b'],
  ['a word joiner', '\u2060'],
  ['a byte order mark', '\u200b\ufeff\u200b'],
  ['a Hangul filler', '\u3164'],
  ['a leading Hangul filler', '\u115f\u1160'],
  ['a half-width filler', '\uffa0'],
  ['a blank Braille pattern', '\u2800'],
  ['combining marks', '\u0301\u0308'],
  ['a soft hyphen', '\u00ad'],
  ['variation selectors', '\ufe0f\u{e0100}'],
  ['tags', '\u{e0041}\u{e007f}'],
  ['wide blanks', '\u3000\u2003'],
  ['nothing', ''],
])('text of %s is no text', (_, text) => {
  for (const field of [name, visibleText]) {
    const { error } = field.safeParse(text);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      text.trim() === '' ? 'must not be empty' : 'must have a visible character',
    ]);
  }
  expect(reasonText.safeParse(text.repeat(3)).success).toBe(false);
});
