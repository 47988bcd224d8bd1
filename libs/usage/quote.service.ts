import type pg from 'pg';
import type { CatalogModel } from '#catalog/catalog.js';
import { measureImages } from '#catalog/image-estimate.js';
import { limitsOf, refuseBeyondLimits } from '#catalog/model-limits.js';
import { hindranceOf } from '#catalog/offer.js';
import {
  estimateInput,
  estimateSpeech,
  mostOutputTokens,
  type TokenEstimate,
} from '#catalog/token-estimate.js';
import { hasGroup } from '#groups/account-groups.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import type { Nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { areWritesSold, dearestKinds } from '#pricing/held-kinds.js';
import type { PriceBook } from '#pricing/price-book.js';
import { quote, type Quote } from '#pricing/quote.js';
import type { Dimensions } from '#pricing/rates.js';
import { termsAt, type TermsRequest } from '#pricing/terms.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { Market, MarketReader } from '#marketplace/price-list.js';

/** Work of a model, by what its price follows from. */
interface WantedWork {
  readonly model: string;
  readonly n?: number | undefined;
  readonly seconds?: number | undefined;
  readonly dimensions?: Dimensions | undefined;
  readonly tokens?: Partial<Record<keyof TokenCounts, number>> | undefined;
  /** To estimate tokens by. */
  readonly text?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
}

export interface WantedQuote extends WantedWork {
  readonly accountId: string;
  readonly group?: string | undefined;
  readonly keyId?: string | undefined;
}

/** Of somebody who may have no key and no account: in a group that their first key could be in. */
interface ListedWish extends WantedWork {
  readonly accountId: string | null;
  readonly group: string;
}

/** Tokens of a text and of its answer. */
interface TextEstimate {
  readonly input: TokenEstimate;
  /** At most. */
  readonly output: bigint;
}

/** What work costs, and in which market that was looked up. */
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

/** Says what a request would cost, by what a hold would decide with, and charges nothing. */
export class QuoteService {
  constructor(
    private readonly pool: pg.Pool,
    private readonly market: MarketReader,
  ) {}

  /**
   * @throws ApiError for a group or key that is none of the account's, for a model that the key may not use, and for units
   * that the model does not take.
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
      throw new ApiError('model_not_allowed', `The key may not use ${model.id}.`, { param: 'model' });
    }
    const main = balance?.main ?? (0n as Nanos);
    const covered = main >= priced.quoted.amount && !balance?.frozen;
    return { ...priced, balance: main, covered };
  }

  /** For everybody: what the work costs in a group. @throws ApiError as above, and for a group that is not open to them */
  async listed(wish: ListedWish): Promise<PricedWish> {
    const place = { accountId: wish.accountId ?? '', group: wish.group };
    const [market, isOpen] = await Promise.all([this.market.read(), hasGroup(this.pool, place)]);
    if (!isOpen)
      throw new ApiError('invalid_value', 'group: must be a group that you may create keys in.', {
        param: 'group',
      });
    requireForSale(market, wish);
    return priceIn(market, wish, wish.group);
  }

  private async placeOf(wish: WantedQuote): Promise<{ group: string; allowedModels: string[] | null }> {
    const { accountId, keyId, group } = wish;
    if (keyId === undefined) return { group: await this.groupOf(wish), allowedModels: null };
    if (group !== undefined)
      throw new ApiError('invalid_value', 'group: the key has one; send only one of both.', {
        param: 'group',
      });
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
    throw new ApiError('invalid_value', `group: ${fault}`, { param: 'group' });
  }
}

/** What is not for sale is as unknown to strangers as what is not there. @throws ApiError */
function requireForSale({ catalog, nowMs }: Market, wish: ListedWish): void {
  const model = catalog.models.get(wish.model);
  const { group } = wish;
  if (!model || hindranceOf(catalog, { model, group, atMs: nowMs })) throw noModel(wish, group);
}

/** @throws ApiError for a model that the group does not have, and for units that the model does not take */
function priceIn(market: Market, wish: WantedWork, group: string): PricedWish {
  const { catalog, nowMs } = market;
  const model = catalog.models.get(wish.model);
  const at = { group, atMs: nowMs };
  // What is wrong with the units describes the model, so it is said only of one that the group has.
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

/** As gateways estimate the same request; null without a text. @throws ApiError where a text does not determine the price. */
function estimateOf({ id, unit, family, limits }: CatalogModel, wish: WantedWork): TextEstimate | null {
  const { text, tokens, maxOutputTokens } = wish;
  if (text === undefined || (family === 'image' && unit === 'token')) return null;
  if (unit !== 'token' || tokens) {
    const why = tokens ? 'send it or tokens, not both' : `${id} is priced by the ${unit}`;
    throw new ApiError('invalid_value', `text: ${why}.`, { param: 'text' });
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

/** @throws ApiError for units that the model does not take */
function priceOf(model: CatalogModel, { wish, estimate, book, ...at }: Wish): ReturnType<typeof quote> {
  const request = { ...at, model: model.id };
  const dimensions = dimensionsOf(model, wish);
  const measured = measure(model, { ...wish, dimensions });
  const tokens = estimate ? tokensOfText(estimate, model, { book, request }) : measured.tokens;
  return quote(book, { ...request, ...measured, tokens, dimensions });
}

/** A text is held for at the dearest that it and its answer may turn out to be. */
function tokensOfText(
  { input, output }: TextEstimate,
  { family }: CatalogModel,
  { book, request }: { book: PriceBook; request: TermsRequest },
): TokenCounts {
  const written = family === 'chat' && areWritesSold(book, request) ? 'cacheWrite' : 'input';
  const kinds = dearestKinds(book, request, written);
  return { input: 0n, cachedInput: 0n, output: 0n, [kinds.input]: input.most, [kinds.output]: output };
}

/** The units asked for, in what the model is priced by; a text is measured apart. @throws ApiError when it names others. */
function measure(model: CatalogModel, wanted: WantedWork): { units: bigint; tokens: TokenCounts | null } {
  refuseOtherUnits(model, wanted);
  const { n, seconds = secondsOf(model), text } = wanted;
  refuseImpossible(model, { ...wanted, seconds });
  if (model.unit === 'second') return { units: BigInt(seconds), tokens: null };
  if (model.unit === 'call') return { units: BigInt(n ?? 1), tokens: null };
  if (isByImage(model, wanted)) return { units: BigInt(n ?? 1), tokens: tokensOfImages(model, wanted) };
  return { units: 1n, tokens: text === undefined ? tokensOf(model, wanted) : null };
}

/** What a call takes that does not say: only videos have a default. */
function secondsOf(model: CatalogModel): number {
  return model.family === 'video' ? limitsOf(model).defaultSeconds : 1;
}

/** What no call could be, as gateways refuse it. @throws ApiError */
function refuseImpossible(model: CatalogModel, wanted: WantedWork & { seconds: number }): void {
  const { id, family } = model;
  const { n = 1, seconds, dimensions = {} } = wanted;
  if (family === 'image') {
    const inputImages = { value: inputImagesOf(model, wanted), param: 'dimensions.input' };
    return refuseBeyondLimits(model, { images: { value: n, param: 'n' }, inputImages });
  }
  if (n !== 1)
    throw new ApiError('invalid_value', `n must be 1 for ${id}: a call makes one.`, { param: 'n' });
  if (family === 'video')
    refuseBeyondLimits(model, {
      seconds: { value: seconds, param: 'seconds' },
      size: named(dimensions.size, 'dimensions.size'),
      resolution: named(dimensions.resolution, 'dimensions.resolution'),
    });
}

function named(value: string | undefined, param: string): { value: string; param: string } | undefined {
  return value === undefined ? undefined : { value, param };
}

/** A model that only edits is always handed an image. */
function dimensionsOf(model: CatalogModel, { dimensions }: WantedWork): Dimensions | undefined {
  const isEdit = model.family === 'image' && limitsOf(model).minInputImages > 0;
  return isEdit ? { input: 'image', ...dimensions } : dimensions;
}

/** As few as make it a call. */
function inputImagesOf(model: CatalogModel, { dimensions }: WantedWork): number {
  return dimensions?.input === 'image' ? Math.max(1, limitsOf(model).minInputImages) : 0;
}

/** Images that are priced by the token may be asked for by their number, as gateways hold for them. */
function isByImage({ family, unit }: CatalogModel, { tokens }: WantedWork): boolean {
  return family === 'image' && unit === 'token' && !tokens;
}

function tokensOfImages(model: CatalogModel, wanted: WantedWork): TokenCounts {
  const { n: count = 1, text = '', dimensions } = wanted;
  const inputImages = inputImagesOf(model, wanted);
  return measureImages({ model, count, prompts: [text], quality: dimensions?.quality, inputImages }).most;
}

function refuseOtherUnits(model: CatalogModel, wanted: WantedWork): void {
  const { seconds, tokens } = wanted;
  const n = isByImage(model, wanted) ? undefined : wanted.n;
  const foreign = Object.entries({ call: n, second: seconds, token: tokens }).find(
    ([unit, value]) => unit !== model.unit && value !== undefined,
  );
  if (!foreign) return;
  const param = { call: 'n', second: 'seconds', token: 'tokens' }[foreign[0]] ?? null;
  throw new ApiError('invalid_value', `${param}: ${model.id} is priced by the ${model.unit}.`, { param });
}

function tokensOf(model: CatalogModel, { tokens }: WantedWork): TokenCounts {
  if (!tokens) {
    const message = `tokens is required: ${model.id} is priced by the token.`;
    throw new ApiError('missing_required_parameter', message, { param: 'tokens' });
  }
  const counted = Object.entries(tokens).map(([name, count]) => [name, BigInt(count)] as const);
  return { input: 0n, cachedInput: 0n, output: 0n, ...Object.fromEntries(counted) };
}
