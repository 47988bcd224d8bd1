import { optionalPrices } from '#pricing/price-text.js';

export interface Amounts {
  inOrder: string[];
  byName: Record<string, string>;
}

/**
 * Amounts in order, then others by name, such as `5/1.25/10,imageOutput=32`. A schema checks what they are.
 * @returns null if a name is repeated
 */
export function readAmounts(text: string): Amounts | null {
  const [inOrder = '', ...named] = text.split(',');
  const byName = Object.fromEntries(named.map(readPair));
  if (Object.keys(byName).length !== named.length) return null;
  return { inOrder: inOrder.split('/'), byName };
}

type TokenAmounts = Record<'input' | 'cachedInput' | 'output', string> &
  Partial<Record<(typeof optionalPrices)[number], string | undefined>>;

/** Amounts per million tokens, as read by `readAmounts`. */
export function tokenAmountsText(amounts: TokenAmounts): string {
  const { input, cachedInput, output, cacheWrite, cacheWrite1h } = amounts;
  const writes = cacheWrite !== undefined && cacheWrite1h !== undefined ? [cacheWrite, cacheWrite1h] : [];
  const inOrder = [input, cachedInput, output, ...writes].join('/');
  const others = optionalPrices.slice(writes.length).filter((name) => amounts[name] !== undefined);
  return [inOrder, ...others.map((name) => `${name}=${amounts[name]}`)].join(',');
}

/** `name=value`. The value can be empty. */
export function readPair(text: string): [name: string, value: string] {
  const [, name = text, value = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  return [name, value];
}
