import type pg from 'pg';
import type { CatalogModel } from '#catalog/catalog.js';
import { readBalance } from '#ledger/customer-account.js';
import type { Nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { quote, type Quote, type TokenCounts } from '#pricing/quote.js';
import type { Market, MarketReader } from '../market/price-list.js';

export interface Wish {
  readonly accountId: string;
  readonly model: string;
  readonly group?: string | undefined;
  readonly n?: number | undefined;
  readonly seconds?: number | undefined;
  readonly tokens?: { input: number; cachedInput: number; output: number } | undefined;
}

export interface QuotedWish {
  readonly quoted: Quote;
  readonly group: string;
  readonly market: Market;
  readonly balance: Nanos;
  readonly covered: boolean;
}

/** Says what a request would cost, by what a hold would decide with, and charges nothing. */
export class QuoteDesk {
  constructor(
    private readonly pool: pg.Pool,
    private readonly market: MarketReader,
  ) {}

  /** @throws ApiError for a group that none of the account's keys is in, and for units that the model does not take. */
  async quote(wish: Wish): Promise<QuotedWish> {
    const [market, group, balance] = await Promise.all([
      this.market.read(),
      this.groupOf(wish),
      readBalance(this.pool, wish.accountId),
    ]);
    const { catalog, nowMs } = market;
    const model = catalog.models.get(wish.model);
    const priced = model
      ? quote(catalog.priceBook, { model: model.id, group, ...measure(model, wish), atMs: nowMs })
      : 'model_not_found';
    if (typeof priced === 'string') {
      throw new ApiError('model_not_found', `There is no model ${wish.model} in group ${group}.`, {
        param: 'model',
      });
    }
    const main = balance?.main ?? (0n as Nanos);
    const covered = main >= priced.amount && !balance?.frozen;
    return { quoted: priced, group, market, balance: main, covered };
  }

  private async groupOf({ accountId, group }: Wish): Promise<string> {
    const { rows } = await this.pool.query<{ name: string }>(
      `SELECT DISTINCT group_name AS name FROM api_keys
       WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ORDER BY 1`,
      [accountId],
    );
    const own = rows.map(({ name }) => name);
    const only = own.length === 1 ? own[0] : undefined;
    const chosen = group ?? only;
    if (chosen !== undefined && own.includes(chosen)) return chosen;
    const fault =
      own.length === 0
        ? 'The account has no key: a key decides the group.'
        : `must be a group of one of your keys: ${own.join(', ')}.`;
    throw new ApiError('invalid_value', `group: ${fault}`, { param: 'group' });
  }
}

/** The units of a wish, in what the model is priced by. @throws ApiError when it names others. */
function measure(
  model: CatalogModel,
  { n, seconds, tokens }: Wish,
): { units: bigint; tokens: TokenCounts | null } {
  const foreign = Object.entries({ call: n, second: seconds, token: tokens }).find(
    ([unit, value]) => unit !== model.unit && value !== undefined,
  );
  if (foreign) {
    const param = { call: 'n', second: 'seconds', token: 'tokens' }[foreign[0]] ?? null;
    throw new ApiError('invalid_value', `${param}: ${model.id} is priced by the ${model.unit}.`, { param });
  }
  if (model.unit === 'second')
    return { units: BigInt(seconds ?? model.limits.defaultSeconds ?? 1), tokens: null };
  if (model.unit === 'call') return { units: BigInt(n ?? 1), tokens: null };
  if (!tokens)
    throw new ApiError(
      'missing_required_parameter',
      `tokens is required: ${model.id} is priced by the token.`,
      {
        param: 'tokens',
      },
    );
  return {
    units: 1n,
    tokens: {
      input: BigInt(tokens.input),
      cachedInput: BigInt(tokens.cachedInput),
      output: BigInt(tokens.output),
    },
  };
}
