import type pg from 'pg';
import type { CatalogModel } from '#catalog/catalog.js';
import { hindranceOf } from '#marketplace/offer.js';
import {
  estimateInput,
  estimateSpeech,
  mostOutputTokens,
  type TokenEstimate,
} from '#catalog/token-estimate.js';
import { hasGroup } from '#groups/account-groups.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import type { Nanos } from '#money/amount.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { areWritesSold, dearestKinds } from '#pricing/held-kinds.js';
import type { PriceBook } from '#pricing/price-book.js';
import { quote, type Quote } from '#pricing/quote.js';
import { termsAt, type TermsRequest } from '#pricing/terms.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { Market, MarketReader } from '#marketplace/price-list.js';
import { measureWork, type WantedWork } from './wanted-work.js';

export interface WantedQuote extends WantedWork {
  readonly accountId: string;
  readonly group?: string | undefined;
  readonly keyId?: string | undefined;
}

/** For someone without a key or an account: a group in which their first key could be. */
interface ListedWish extends WantedWork {
  readonly accountId: string | null;
  readonly group: string;
}

/** Tokens of a text and of its answer. */
interface TextEstimate {
  readonly input: TokenEstimate;
  /** The most. */
  readonly output: bigint;
}

/** The price of work, and the catalog it came from. */
interface PricedWish {
  readonly quoted: Quote;
  readonly group: string;
  readonly market: Market;
  readonly estimate: TextEstimate | null;
}

export interface QuotedWish extends PricedWish {
  readonly balance: Nanos;
  readonly covered: boolean;
}

/** Quotes a request with the code that decides on holds, and charges nothing. */
export class QuoteService {
  constructor(
    private readonly pool: pg.Pool,
    private readonly market: MarketReader,
  ) {}

  /**
   * @throws ApiError for another account's group or key, for a model that the key may not use, and for units that the
   * model does not support
   */
  async quote(wish: WantedQuote): Promise<QuotedWish> {
    const [market, { group, allowedModels }, balance] = await Promise.all([
      this.market.read(),
      this.placeOf(wish),
      readBalance(this.pool, wish.accountId),
    ]);
    const priced = priceIn(market, wish, group);
    const model = market.catalog.models.get(wish.model);
    if (model && allowedModels && ![model.id, model.aliasOf].some((id) => id && allowedModels.includes(id))) {
      throw new ApiError('model_not_allowed', `The key cannot use ${model.id}.`, { param: 'model' });
    }
    const main = balance?.main ?? (0n as Nanos);
    const covered = main >= priced.quoted.amount && !balance?.frozen;
    return { ...priced, balance: main, covered };
  }

  /** For everyone: the price in a group. @throws ApiError as above, and for a group that is not open */
  async listed(market: Market, wish: ListedWish): Promise<PricedWish> {
    if (!market.openGroups.has(wish.group) && !(await this.isGranted(wish)))
      throw invalidField('group', 'must be a group that you can create keys in.');
    requireForSale(market, wish);
    return priceIn(market, wish, wish.group);
  }

  private async isGranted({ accountId, group }: ListedWish): Promise<boolean> {
    return accountId !== null && hasGroup(this.pool, { accountId, group });
  }

  private async placeOf(wish: WantedQuote): Promise<{ group: string; allowedModels: string[] | null }> {
    const { accountId, keyId, group } = wish;
    if (keyId === undefined) return { group: await this.groupOf(wish), allowedModels: null };
    if (group !== undefined)
      throw invalidField('group', 'send either the key or a group, because the key has one.');
    const { rows } = await this.pool.query<{ group: string; allowedModels: string[] | null }>(
      `SELECT group_name AS "group", allowed_models AS "allowedModels" FROM api_keys
       WHERE id = $2 AND account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
      [accountId, keyId],
    );
    if (!rows[0]) throw new ApiError('not_found', 'You have no such key.');
    return rows[0];
  }

  private async groupOf({ accountId, group }: WantedQuote): Promise<string> {
    const { rows } = await this.pool.query<{ name: string }>(
      `SELECT DISTINCT group_name AS name FROM api_keys
       WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ORDER BY 1`,
      [accountId],
    );
    const own = rows.map(({ name }) => name);
    const only = own.length === 1 ? own[0] : undefined;
    const chosen = group ?? only;
    if (chosen !== undefined && own.includes(chosen)) return chosen;
    if (own.length === 0 && group !== undefined && (await hasGroup(this.pool, { accountId, group })))
      return group;
    const fault =
      own.length === 0
        ? 'The account has no key: a key decides the group.'
        : `must be a group of one of your keys: ${own.join(', ')}.`;
    throw invalidField('group', fault);
  }
}

/** Strangers cannot tell a model that is not for sale from one that does not exist. @throws ApiError */
function requireForSale({ catalog, nowMs }: Market, wish: ListedWish): void {
  const model = catalog.models.get(wish.model);
  const { group } = wish;
  if (!model || hindranceOf(catalog, { model, group, atMs: nowMs })) throw noModel(wish, group);
}

/** @throws ApiError for a model outside the group, and for units that the model does not support */
function priceIn(market: Market, wish: WantedWork, group: string): PricedWish {
  const { catalog, nowMs } = market;
  const model = catalog.models.get(wish.model);
  const at = { group, atMs: nowMs };
  // An error about the units describes the model, so it is only given for a model in the group.
  if (!model || termsAt(catalog.priceBook, { ...at, model: model.id }) === 'model_not_found')
    throw noModel(wish, group);
  const estimate = estimateOf(model, wish);
  const priced = priceOf(model, { wish, estimate, book: catalog.priceBook, ...at });
  if (typeof priced === 'string') throw noModel(wish, group);
  return { quoted: priced, group, market, estimate };
}

function noModel({ model }: WantedWork, group: string): ApiError {
  return new ApiError('model_not_found', `There is no model ${model} in group ${group}.`, { param: 'model' });
}

/** As gateways estimate the same request; null without a text. @throws ApiError if a text does not determine the price */
function estimateOf({ id, unit, family, limits }: CatalogModel, wish: WantedWork): TextEstimate | null {
  const { text, tokens, maxOutputTokens } = wish;
  if (text === undefined || (family === 'image' && unit === 'token')) return null;
  if (unit !== 'token' || tokens) {
    const why = tokens ? 'send it or tokens, not both' : `${id} is priced by the ${unit}`;
    throw invalidField('text', `${why}.`);
  }
  if (family === 'speech')
    return {
      input: estimateInput({ model: id, input: text }, limits),
      output: estimateSpeech(text, limits).most,
    };
  const messages = [{ role: 'user', content: text }];
  return {
    input: estimateInput({ model: id, messages }, limits),
    output: mostOutputTokens({ maxOutputTokens, choices: 1 }, limits),
  };
}

type Wish = Omit<TermsRequest, 'model'> & {
  readonly wish: WantedWork;
  readonly estimate: TextEstimate | null;
  readonly book: PriceBook;
};

/** @throws ApiError for units that the model does not support */
function priceOf(model: CatalogModel, { wish, estimate, book, ...at }: Wish): ReturnType<typeof quote> {
  const request = { ...at, model: model.id };
  const measured = measureWork(model, wish);
  const tokens = estimate ? tokensOfText(estimate, model, { book, request }) : measured.tokens;
  return quote(book, { ...request, ...measured, tokens });
}

/** A text is held at the highest price that it and its answer may have. */
function tokensOfText(
  { input, output }: TextEstimate,
  { family }: CatalogModel,
  { book, request }: { book: PriceBook; request: TermsRequest },
): TokenCounts {
  const written = family === 'chat' && areWritesSold(book, request) ? 'cacheWrite' : 'input';
  const kinds = dearestKinds(book, request, written);
  return { input: 0n, cachedInput: 0n, output: 0n, [kinds.input]: input.most, [kinds.output]: output };
}
