import { z } from 'zod';
import { createHash } from 'node:crypto';
import { InvalidAmount } from '#money/amount.js';
import { parseMinor } from '#money/currency.js';
import { timeZone } from '#platform/http/fields.js';
import { isDay } from '#platform/times.js';
import { csvRows, type CsvRow, type FileSource } from '../csv-rows.js';
import type { ReportDays } from '../coverage.js';
import { CellFault, type ReadRow, readReportRows } from '../file-rows.js';
import { keptText } from '../report-line.js';

/** A movement on our account at a bank. */
export interface BankLine {
  /** The bank's own ID, or one made from the content and its position among equal lines. */
  readonly lineId: string;
  /** `2026-01-31`. */
  readonly bookedOn: string;
  /** Positive if money came in. */
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly reference: string;
}

const DATE_FORMAT =
  /^(?!.*YYYYY)(?!.*YY.*[^Y].*YY)(?!.*MM.*MM)(?!.*DD.*DD)(?=.*YY)(?=.*MM)(?=.*DD)(?:YYYY|YY|MM|DD|[-./ ])+$/;
const column = z.string().min(1, 'must name a column').max(100);

/** How the files of a bank are read. Every bank has its own format, so all of it is configured per account. */
export const bankMapping = z.strictObject({
  delimiter: z.enum([',', ';', '\t', '|']).default(','),
  encoding: z.enum(['utf-8', 'windows-1252']).default('utf-8'),
  skipLines: z
    .number()
    .int()
    .min(0)
    .max(100)
    .default(0)
    .meta({ description: 'The number of lines before the header.' }),
  date: z.strictObject({
    column,
    format: z
      .string()
      .regex(DATE_FORMAT, 'must have a year, a month and a day, once each, such as YYYY-MM-DD or DD.MM.YY')
      .default('YYYY-MM-DD'),
  }),
  amount: z
    .union([
      z.strictObject({ column, negate: z.boolean().default(false) }),
      z.strictObject({ debit: column, credit: column }),
    ])
    .meta({ description: 'One signed column, or one column for debits and one for credits.' }),
  decimal: z.enum(['.', ',']).default('.'),
  currency: z
    .union([
      z.strictObject({ column }),
      z.strictObject({ fixed: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO code') }),
    ])
    .meta({ description: "A column, or the account's only currency." }),
  timeZone: timeZone
    .default('UTC')
    .meta({ description: "The time zone of the bank's days. Days after today are refused." }),
  reference: z
    .array(column)
    .min(1, 'must name a column')
    .max(5)
    .meta({ description: 'The columns to store as text. Include the purpose, but not names of people.' }),
  lineId: column.optional().meta({ description: "The bank's own ID of a line, if it provides one." }),
});

export type BankMapping = z.output<typeof bankMapping>;

/** A stored mapping, also by rules of an earlier version. It is checked when a file is read. */
export const storedMapping = bankMapping.extend({
  date: z.strictObject({ column, format: z.string() }),
  timeZone: z.string(),
});

/**
 * The lines of a bank's file. Lines of zero are skipped. Days after today, or outside the requested range, are faults. @throws
 * ReportRefused if the file does not match the mapping
 */
export function readBankCsv(
  source: FileSource,
  mapping: BankMapping,
  { today, days }: { today: string; days: ReportDays },
): AsyncGenerator<ReadRow<BankLine>> {
  const { delimiter, encoding, skipLines } = mapping;
  const rows = csvRows(source, {
    delimiter,
    encoding,
    skipLines,
    checkHeader: (titles) => {
      const lacking = columnsOf(mapping).filter((name) => !titles.includes(name));
      return lacking.length === 0 ? null : `lacks ${lacking.map((name) => JSON.stringify(name)).join(', ')}.`;
    },
  });
  const ordinals = new Map<string, number>();
  return readReportRows(rows, ({ cells }) => {
    const line = lineOf(cells, mapping, ordinals);
    if (line) requireDay(line.bookedOn, { today, days, column: mapping.date.column });
    return line;
  });
}

function requireDay(
  day: string,
  { today, days, column: name }: { today: string; days: ReportDays; column: string },
): void {
  if (day > today) throw new CellFault(name, `is ${day}, which is in the future.`);
  if (day < days.from || day >= days.to)
    throw new CellFault(name, `is ${day}, and the file is to hold ${days.from} up to ${days.to}.`);
}

function columnsOf({ date, amount, currency, reference, lineId }: BankMapping): string[] {
  return [
    date.column,
    ...('column' in amount ? [amount.column] : [amount.debit, amount.credit]),
    ...('column' in currency ? [currency.column] : []),
    ...reference,
    ...(lineId === undefined ? [] : [lineId]),
  ];
}

function lineOf(
  cells: CsvRow['cells'],
  mapping: BankMapping,
  ordinals: Map<string, number>,
): BankLine | null {
  const bookedOn = dateIn(cells, mapping.date);
  const currency = currencyIn(cells, mapping.currency);
  const amountMinor = amountIn(cells, mapping, currency);
  if (amountMinor === 0n) return null;
  const reference = keptText(mapping.reference.map((name) => cells[name] ?? '').join(' '), 500);
  const content = { bookedOn, amountMinor, currency, reference };
  return { lineId: idOf(cells, mapping, { content, ordinals }), ...content };
}

/** Equal lines of a day are numbered in their order, which is the same in every file with the complete day. */
function idOf(
  cells: CsvRow['cells'],
  { lineId }: BankMapping,
  { content, ordinals }: { content: Omit<BankLine, 'lineId'>; ordinals: Map<string, number> },
): string {
  if (lineId !== undefined) {
    const id = cells[lineId] ?? '';
    if (!/^[\x20-\x7e]{1,200}$/.test(id))
      throw new CellFault(lineId, 'must be an id of 1 to 200 characters.');
    return id;
  }
  const { bookedOn, amountMinor, currency, reference } = content;
  const text = [bookedOn, amountMinor, currency, reference].join('\n');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
  const ordinal = (ordinals.get(hash) ?? 0) + 1;
  ordinals.set(hash, ordinal);
  return `${hash}-${ordinal}`;
}

function dateIn(cells: CsvRow['cells'], { column: name, format }: BankMapping['date']): string {
  const pattern = format
    .replace(/[./ ]/g, '\\$&')
    .replace('YYYY', '(?<y>\\d{4})')
    .replace('YY', '(?<y>\\d{2})')
    .replace('MM', '(?<m>\\d{1,2})')
    .replace('DD', '(?<d>\\d{1,2})');
  // Ignores what follows, such as a time: banks book by day.
  const { y, m, d } = new RegExp(`^${pattern}(?!\\d)`).exec(cells[name] ?? '')?.groups ?? {};
  const iso = `${(y ?? '').padStart(4, '20')}-${(m ?? '').padStart(2, '0')}-${(d ?? '').padStart(2, '0')}`;
  if (!isDay(iso)) throw new CellFault(name, `must be a day as ${format}.`);
  return iso;
}

function currencyIn(cells: CsvRow['cells'], currency: BankMapping['currency']): string {
  if ('fixed' in currency) return currency.fixed;
  const text = (cells[currency.column] ?? '').toUpperCase();
  if (!/^[A-Z]{3}$/.test(text)) throw new CellFault(currency.column, 'must be an ISO code such as EUR.');
  return text;
}

function amountIn(cells: CsvRow['cells'], mapping: BankMapping, currency: string): bigint {
  const { amount, decimal } = mapping;
  const read = (name: string) => numberIn(cells[name] ?? '', { name, decimal, currency });
  if ('column' in amount) {
    const value = read(amount.column);
    if (value === null) throw new CellFault(amount.column, 'is empty.');
    return amount.negate ? -value : value;
  }
  const [debit, credit] = [read(amount.debit), read(amount.credit)];
  if (debit === null && credit === null)
    throw new CellFault(amount.credit, `is empty, as is ${amount.debit}.`);
  if (debit && credit) throw new CellFault(amount.credit, `must be empty where ${amount.debit} is not.`);
  // Debits are written with or without a sign.
  return (credit ?? 0n) - (debit === null ? 0n : debit < 0n ? -debit : debit);
}

/** By what stands before and after the digits. */
const SIGNS: Readonly<Record<string, bigint>> = { '': 1n, '+': 1n, '-': -1n, '()': -1n };

/** An amount as banks write it, such as `1.234,56`, `1,234.56-`, `(12.00)` or `+ 3`; null for an empty cell. */
function numberIn(
  text: string,
  { name, decimal, currency }: { name: string; decimal: '.' | ','; currency: string },
): bigint | null {
  const bare = text.replace(/[\s\u00a0\u202f]/g, '').replace(/\u2212/g, '-');
  if (bare === '') return null;
  const [, before = '', digits = '', after = ''] = /^([+(-]?)(.*?)([+)-]?)$/.exec(bare) ?? [];
  const sign = SIGNS[before + after];
  const group = decimal === ',' ? `[.']` : `[,']`;
  const whole = new RegExp(`^(?:\\d+|\\d{1,3}(?:${group}\\d{3})+)(?:[${decimal}]\\d*)?$`);
  try {
    if (sign === undefined || !whole.test(digits)) throw new InvalidAmount(text, 'an amount');
    const plain = digits.replace(new RegExp(group, 'g'), '').replace(decimal, '.');
    return sign * parseMinor(plain, currency);
  } catch (error) {
    if (!(error instanceof InvalidAmount)) throw error;
    throw new CellFault(name, `must be an amount such as ${decimal === ',' ? '1.234,56' : '1,234.56'}.`);
  }
}
