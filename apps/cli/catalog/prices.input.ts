import { InvalidArgumentError } from 'commander';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { changeFields } from '#marketplace/prices/price-change.fields.js';
import { readPriceCsv, readPriceList } from '#marketplace/prices/price-file.js';
import { OperatorError } from '#platform/errors.js';
import type { PriceChange } from '#marketplace/prices/price-change.js';
import { readAmounts, readPair } from '../amounts.js';

/** Prices given to `prices`, in a file or as options. */

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
  throw new OperatorError(
    `The file ${file} must be a JSON list of prices, or an object with the list as rows.`,
  );
}

export const priceArgument = collecting((model, value) => ({ kind: 'price', model, price: priceOf(value) }));

export const multiplierArgument = collecting((group, value) => {
  return { kind: 'multiplier', group, multiplier: value === 'withdrawn' ? null : value };
});

export const ruleArgument = collecting((group, value) => {
  const rule = value === 'none' ? { rule: 'none' } : { rule: 'fixed_per_call', unitPrice: value };
  return { kind: 'rule', group, ...rule };
});

/** Reads `name=value` of an option that may be repeated. */
function collecting(read: (subject: string, value: string) => unknown) {
  return (text: string, before: PriceChange[]): PriceChange[] => {
    const result = changeFields.safeParse(read(...readPair(text)));
    if (result.success) return [...before, result.data];
    throw new InvalidArgumentError('Give a name and an exact decimal, such as imgmodel-4=0.035.');
  };
}

function priceOf(value: string): unknown {
  if (value === 'withdrawn') return null;
  const amounts = readAmounts(value);
  const [first, cachedInput, output, cacheWrite, cacheWrite1h, ...more] = amounts?.inOrder ?? [];
  if (!amounts || more.length > 0) return undefined;
  if (cachedInput === undefined) return { unitPrice: first, ...amounts.byName };
  return { input: first, cachedInput, output, cacheWrite, cacheWrite1h, ...amounts.byName };
}
