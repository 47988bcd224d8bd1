import type { Catalog, CatalogModel } from '#catalog/catalog.js';
import type { Decimal } from '#money/amount.js';
import { cacheWritePrices, type TokenPrice } from '#pricing/price-book.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import { termsAt } from '#pricing/terms.js';
import type { Conversation } from './conversation-request.js';

/** What input may be billed as: read, or written into a cache for five minutes or for an hour. */
export type InputKind = keyof Pick<TokenCounts, 'input' | 'cacheWrite' | 'cacheWrite1h'>;

/**
 * The dearest that the input of a request may turn out to be. Messages say what is to be written. Other dialects may write
 * without being asked, where the model's price says that writes are sold.
 */
export function dearestInput(
  { kind, body }: Conversation,
  { catalog, model, group, atMs }: { catalog: Catalog; model: CatalogModel; group: string; atMs: number },
): InputKind {
  if (kind === 'messages') return writesOf(body, 0);
  const terms = termsAt(catalog.priceBook, { model: model.id, group, atMs });
  const writesUnasked = typeof terms !== 'string' && terms.price.kind === 'token' && terms.price.cacheWrite;
  return kind !== 'speech' && (writesUnasked || body['prompt_cache_options']) ? 'cacheWrite' : 'input';
}

/** The kinds that a request is held by: as what its input and its answer may turn out to be at the dearest. */
export interface HeldKinds {
  readonly input: InputKind | 'imageInput' | 'audioInput';
  readonly output: 'output' | 'imageOutput' | 'audioOutput';
}

/** `written` is the dearest that text may turn out to be. */
export function dearestKinds(
  { priceBook }: Pick<Catalog, 'priceBook'>,
  priced: { model: CatalogModel; group: string; atMs: number },
  written: InputKind,
): HeldKinds {
  const terms = termsAt(priceBook, { ...priced, model: priced.model.id });
  if (typeof terms === 'string' || terms.price.kind !== 'token') return { input: written, output: 'output' };
  const { price } = terms;
  const prices: TokenPrice = { ...price, ...cacheWritePrices(price) };
  return {
    input: dearestOf(prices, [written, 'imageInput', 'audioInput']),
    output: dearestOf(prices, ['output', 'imageOutput', 'audioOutput']),
  };
}

/** The first of those that cost most. */
function dearestOf<K extends Exclude<keyof TokenPrice, 'kind'>>(
  prices: TokenPrice,
  kinds: readonly [K, ...K[]],
): K {
  return kinds.reduce((dearest, kind) => {
    const [one, other] = [prices[dearest], prices[kind]];
    return other && (!one || isLess(one, other)) ? kind : dearest;
  });
}

function isLess(one: Decimal, other: Decimal): boolean {
  return one.digits * 10n ** BigInt(other.scale) < other.digits * 10n ** BigInt(one.scale);
}

/** Bodies are bounded in depth before they come here; marks are no deeper than in the content of a tool's result. */
const MARKS_DEPTH = 8;

function writesOf(value: unknown, depth: number): InputKind {
  if (typeof value !== 'object' || value === null || depth > MARKS_DEPTH) return 'input';
  let dearest: InputKind = 'input';
  for (const [name, member] of Object.entries(value)) {
    const found = name === 'cache_control' ? writeOf(member) : writesOf(member, depth + 1);
    if (found === 'cacheWrite1h') return found;
    if (found === 'cacheWrite') dearest = found;
  }
  return dearest;
}

function writeOf(mark: unknown): InputKind {
  if (typeof mark !== 'object' || mark === null) return 'input';
  return (mark as { ttl?: unknown }).ttl === '1h' ? 'cacheWrite1h' : 'cacheWrite';
}
