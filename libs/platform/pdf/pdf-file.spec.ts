import { expect, it } from 'vitest';
import { textsOfPdf } from '../../../test/support/pdf.js';
import { pdfOf, type PdfContent } from './pdf-file.js';

const content = (part: Partial<PdfContent>): PdfContent => ({
  language: 'en',
  title: 'Receipt',
  lines: [],
  sections: [],
  notes: [],
  ...part,
});

it('shows Latin and Chinese text on one line, each in a face that every reader has', async () => {
  const file = await pdfOf(content({ lines: ['Café 上海 Ltd.'] }));
  expect(textsOfPdf(file)).toEqual(['Receipt', 'Café ', '上海', ' Ltd.']);
  expect(file.toString('latin1')).not.toMatch(/FontFile/);
});

it('draws the Latin letters that readers have no glyphs for, and says what they are', async () => {
  const name = 'Łukasz Świętochłowski, Žďár nad Sázavou, Győr, Iași, Rīga, Đắk 上海';
  const file = await pdfOf(content({ title: 'Přehled', lines: [name] }));
  const texts = textsOfPdf(file);
  expect(texts.join('')).toBe(`Přehled${name}`);
  expect(texts).toEqual(expect.arrayContaining(['P', 'ř', 'ehled', 'Ł', 'ukasz ', 'Đ', 'ắ']));
  const bytes = file.toString('latin1');
  expect(bytes).toMatch(/\/BaseFont \/Helvetica\n\/Encoding \/StandardEncoding/);
  expect(bytes).not.toMatch(/FontFile/);
});

it('breaks lines that are too long, and starts another page when one is full', async () => {
  const name = '公司'.repeat(100);
  const rows = Array.from({ length: 100 }, (_, index) => ({
    label: `Row ${index}`,
    value: `${index}.00 USD`,
  }));
  const file = await pdfOf(content({ lines: [name], sections: [{ title: 'Rows', rows }] }));
  const texts = textsOfPdf(file);
  const parts = texts.filter((text) => /公/.test(text));
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join('')).toBe(name);
  expect(texts).toEqual(expect.arrayContaining(['Row 99', '99.00 USD']));
  expect(file.toString('latin1').match(/\/Type \/Page\b/g)!.length).toBeGreaterThan(2);
});

it('shows control characters and characters beyond all faces without breaking the file', async () => {
  const file = await pdfOf(content({ lines: ['a\u0000b\u202ec (d) \\ <e>', '😀'] }));
  expect(textsOfPdf(file)).toEqual(['Receipt', 'a b c (d) \\ <e>', '😀']);
});
