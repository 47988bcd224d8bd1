import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { limitRows, readCsvFile } from '#platform/http/csv-file.js';
import { type PriceBook } from '#pricing/price-book.js';
import { optionalPrices, stated } from '#pricing/price-text.js';
import { versionAt } from '#groups/version.js';
import {
  changedName,
  changeOf,
  type PriceChange,
  sameChange,
  changeSubject,
  versionsOf,
} from './price-change.js';
import { changeFields } from './price-change.fields.js';
import { faultOf } from './based-change.js';
import { formatFault, type PriceFault, priceFault, priceFaultText } from './price-fault.js';
import type { PricesHere } from './prices-here.js';
import { namedTwice, ratesFrom, ratesOf, ratesText } from './rates.js';

/** The columns of a price file, in order. A row is a price of a model, or a multiplier or rule of a group. */
const COLUMNS = [
  'kind',
  'subject',
  'unit',
  'unit_price',
  'input_price',
  'cached_input_price',
  'output_price',
  'cache_write_price',
  'cache_write_1h_price',
  'multiplier',
  'rule',
  'withdrawn',
  'rates',
  'image_input_price',
  'cached_image_input_price',
  'image_output_price',
  'audio_input_price',
  'cached_audio_input_price',
  'audio_output_price',
] as const;

/** The price columns that a price by tokens may omit. */
const OPTIONAL = {
  cacheWrite: 'cache_write_price',
  cacheWrite1h: 'cache_write_1h_price',
  imageInput: 'image_input_price',
  cachedImageInput: 'cached_image_input_price',
  imageOutput: 'image_output_price',
  audioInput: 'audio_input_price',
  cachedAudioInput: 'cached_audio_input_price',
  audioOutput: 'audio_output_price',
} as const satisfies Record<(typeof optionalPrices)[number], (typeof COLUMNS)[number]>;

type Cells = Partial<Record<(typeof COLUMNS)[number], string>>;

/** One row of a file, as far as it could be read. */
export interface FileRow {
  /** Counted from 1: in a CSV file with its header, in a JSON document the position in its list. */
  readonly line: number;
  readonly value: unknown;
}

interface RefusedRow extends PriceFault {
  readonly line: number;
  /** The fault in English. */
  readonly reason: string;
}

interface ComparedRow {
  readonly line: number;
  readonly change: PriceChange;
  /** null if nothing is in force. */
  readonly before: PriceChange | null;
}

/** The effect of an import, row by row. */
export interface Comparison {
  readonly added: ComparedRow[];
  readonly changed: ComparedRow[];
  readonly same: number;
  readonly refused: RefusedRow[];
}

/** Everything in force at a time, as the changes that would restore it. */
export function pricesInForce(book: PriceBook, atMs: number): PriceChange[] {
  const models = [...book.models.values()].filter(({ id, pricedAs }) => id === pricedAs).map(({ id }) => id);
  const groups = [...book.multipliers.keys()];
  const subjects: Parameters<typeof changeOf>[0][] = [
    ...groups.sort().map((group) => ({ kind: 'multiplier' as const, group })),
    ...groups.map((group) => ({ kind: 'rule' as const, group })),
    ...models.sort().map((model) => ({ kind: 'price' as const, model })),
  ];
  return subjects.flatMap((subject) => {
    const version = versionAt(versionsOf(book, subject as PriceChange), atMs);
    return version ? [changeOf(subject, version.value)] : [];
  });
}

/** Prices as a CSV file that `readPriceCsv` reads. */
export function priceCsv(book: PriceBook, changes: readonly PriceChange[]): string {
  const records = changes.map((change) => cellsOf(book, change));
  return stringify(records, { header: true, columns: [...COLUMNS] });
}

function cellsOf(book: PriceBook, change: PriceChange): Cells {
  const { kind } = change;
  if (kind === 'multiplier') {
    const { group, multiplier } = change;
    return { kind, subject: group, ...(multiplier === null ? { withdrawn: 'yes' } : { multiplier }) };
  }
  if (kind === 'rule') {
    const price = change.rule === 'none' ? {} : { unit_price: change.unitPrice };
    return { kind, subject: change.group, rule: change.rule, ...price };
  }
  const { model, price } = change;
  const unit = book.models.get(model)?.unit;
  const cells: Cells = { kind, subject: model, ...(unit ? { unit } : {}) };
  if (price === null) return { ...cells, withdrawn: 'yes' };
  if ('unitPrice' in price)
    return { ...cells, unit_price: price.unitPrice, rates: ratesText(ratesOf(price)) };
  const { input, cachedInput, output } = price;
  const tokens = { input_price: input, cached_input_price: cachedInput, output_price: output };
  const others = optionalPrices.map((name): [string, string] => [OPTIONAL[name], price[name] ?? '']);
  return { ...cells, ...tokens, ...(Object.fromEntries(others) as Cells) };
}

/** The rows of a CSV file. @throws ApiError if it is no CSV file, has other columns, or too many rows */
export function readPriceCsv(text: string): FileRow[] {
  const records = readCsvFile(text, { columns: COLUMNS, required: ['kind', 'subject'] });
  return records.map(({ line, cells }) => ({ line, value: changeOfCells(cells) }));
}

export function readPriceList(list: readonly unknown[]): FileRow[] {
  limitRows(list.length);
  return list.map((value, at) => ({ line: at + 1, value }));
}

/** The change in a row's cells. It is validated later, like any change. Empty cells count as missing. */
function changeOfCells(cells: Cells): unknown {
  const {
    kind,
    subject,
    unit: _,
    withdrawn,
    ...values
  } = Object.fromEntries(Object.entries(cells).filter(([, text]) => text !== '')) as Cells;
  const isWithdrawn = withdrawn === 'yes';
  if (withdrawn !== undefined && !isWithdrawn) return new FaultyRow(priceFault('withdrawn_unclear'));
  if (isWithdrawn && Object.keys(values).length > 0) return new FaultyRow(priceFault('withdrawn_with_value'));
  const twice = namedTwice(values.rates ?? '');
  if (twice !== undefined) return new FaultyRow(priceFault('named_twice', { name: twice }));
  const { unit_price: unitPrice, rates, multiplier, rule, ...perToken } = values;
  if (kind === 'multiplier')
    return {
      kind,
      group: subject,
      multiplier: isWithdrawn ? null : multiplier,
      ...rest(values, 'multiplier'),
    };
  if (kind === 'rule') {
    return { kind, group: subject, rule, ...rest(values, 'rule', 'unit_price'), ...defined({ unitPrice }) };
  }
  const { input_price: input, cached_input_price: cachedInput, output_price: output } = perToken;
  const others = stated((name) => perToken[OPTIONAL[name]]);
  const price = isWithdrawn
    ? null
    : {
        ...defined({ unitPrice, input, cachedInput, output }),
        ...others,
        ...(rates !== undefined && { rates: ratesFrom(rates) }),
      };
  return { kind, model: subject, price, ...defined({ multiplier, rule }) };
}

function rest(values: Cells, ...known: string[]): Cells {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !known.includes(name)));
}

function defined(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

/** Compares a file with what will be in force at a time. Pure: it changes nothing. */
export function compareRows(here: PricesHere, rows: readonly FileRow[], atMs: number): Comparison {
  const result = { added: [] as ComparedRow[], changed: [] as ComparedRow[], refused: [] as RefusedRow[] };
  const lineOf = new Map<string, number>();
  let same = 0;
  for (const { line, value } of rows) {
    const change = acceptedChange(here, value, { atMs, lineOf });
    if (change instanceof FaultyRow) {
      result.refused.push({ line, ...change.fault, reason: priceFaultText(change.fault) });
      continue;
    }
    lineOf.set(changeSubject(change), line);
    const version = versionAt(versionsOf(here.book, change), atMs);
    const before = version ? changeOf(change, version.value) : null;
    if (before && sameChange(change, before)) same += 1;
    else result[isNothing(before) ? 'added' : 'changed'].push({ line, change, before });
  }
  return { ...result, same };
}

/** Whether nothing was in force: no value ever, a withdrawn one, or an ended rule. */
function isNothing(before: PriceChange | null): boolean {
  if (before === null) return true;
  if (before.kind === 'price') return before.price === null;
  return before.kind === 'multiplier' ? before.multiplier === null : before.rule === 'none';
}

/** A row that cannot be imported. */
class FaultyRow {
  constructor(readonly fault: PriceFault) {}
}

function acceptedChange(
  here: PricesHere,
  value: unknown,
  { atMs, lineOf }: { atMs: number; lineOf: ReadonlyMap<string, number> },
): PriceChange | FaultyRow {
  const change = checkedChange(value);
  if (change instanceof FaultyRow) return change;
  const line = lineOf.get(changeSubject(change));
  const fault =
    line === undefined
      ? faultOf(here, change, atMs)
      : priceFault('earlier_line', { kind: change.kind, name: changedName(change), line });
  return fault ? new FaultyRow(fault) : change;
}

function checkedChange(value: unknown): PriceChange | FaultyRow {
  if (value instanceof FaultyRow) return value;
  const { kind } = (value ?? {}) as { kind?: unknown };
  const incomplete = INCOMPLETE.get(kind);
  if (!incomplete) return new FaultyRow(priceFault('unknown_kind'));
  const result = changeFields.safeParse(value);
  return result.success ? result.data : new FaultyRow(deepestFault(result.error) ?? incomplete);
}

const INCOMPLETE = new Map<unknown, PriceFault>([
  ['price', priceFault('price_incomplete')],
  ['multiplier', priceFault('multiplier_incomplete')],
  ['rule', priceFault('rule_incomplete')],
]);

/** The deepest fault says most: of the alternatives, the one for the row's kind. */
function deepestFault(error: z.ZodError): PriceFault | null {
  const faults = leaves(error.issues).filter(
    ({ code, path }) => code === 'invalid_format' && path.length > 0,
  );
  const fault = faults[0];
  return fault ? formatFault(fault.path.map(String).join('.'), fault.message) : null;
}

function leaves(issues: readonly z.core.$ZodIssue[], above: PropertyKey[] = []): z.core.$ZodIssue[] {
  return issues.flatMap((issue) => {
    const path = [...above, ...issue.path];
    if (issue.code === 'invalid_union') return issue.errors.flatMap((each) => leaves(each, path));
    return [{ ...issue, path }];
  });
}
