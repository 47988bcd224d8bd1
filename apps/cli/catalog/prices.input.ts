import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { changeFields } from '#marketplace/prices/price-change.fields.js';
import { readPriceCsv, readPriceList } from '#marketplace/prices/price-file.js';
import { OperatorError } from '#platform/errors.js';
import type { PriceChange } from '#marketplace/prices/price-change.js';

/** Prices as people give them to `prices`: in a file, or as options. */

export async function readPriceRows(file: string) {
  try {
    const content = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
    if (!file.endsWith('.json')) return readPriceCsv(content);
    const document = JSON.parse(content) as unknown;
    const rows: unknown = Array.isArray(document) ? document : (document as { rows?: unknown })?.rows;
    if (Array.isArray(rows)) return readPriceList(rows);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES')
      throw new OperatorError(`The file ${file} cannot be read.`);
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new OperatorError(`The file ${file} is no JSON list of prices, nor an object with one as rows.`);
}

export function wantedChanges({
  price,
  multiplier,
  rule,
}: Record<'price' | 'multiplier' | 'rule', string[]>): PriceChange[] {
  return [
    ...price.map((text) => change(text, (model, value) => ({ kind: 'price', model, price: priceOf(value) }))),
    ...multiplier.map((text) =>
      change(text, (group, value) => ({
        kind: 'multiplier',
        group,
        multiplier: value === 'withdrawn' ? null : value,
      })),
    ),
    ...rule.map((text) =>
      change(text, (group, value) =>
        value === 'none'
          ? { kind: 'rule', group, rule: 'none' }
          : { kind: 'rule', group, rule: 'fixed_per_call', unitPrice: value },
      ),
    ),
  ];
}

function change(text: string, read: (subject: string, value: string) => unknown): PriceChange {
  const [subject, value] = pairOf(text);
  const result = changeFields.safeParse(read(subject, value));
  if (result.success) return result.data;
  throw new OperatorError(
    `${text} is no change of a price: give a name and an exact decimal, such as imgmodel-4=0.035.`,
  );
}

/** `name=value`; the value is empty where there is none. */
function pairOf(text: string): [name: string, value: string] {
  const [, name = text, value = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  return [name, value];
}

/** Amounts of text in their order, then others by name: `5/1.25/10,imageOutput=40`. What is wrong in it, its schema refuses. */
function priceOf(value: string): unknown {
  if (value === 'withdrawn') return null;
  const [amounts = '', ...named] = value.split(',');
  const others = Object.fromEntries(named.map(pairOf)) as Record<string, string>;
  const [first, cachedInput, output, cacheWrite, cacheWrite1h] = amounts.split('/');
  if (cachedInput === undefined) return { unitPrice: first, ...others };
  return { input: first, cachedInput, output, cacheWrite, cacheWrite1h, ...others };
}
