import type { z } from 'zod';
import { KeptValues } from '#platform/kept-values.js';
import { MarketReader, nextChange } from '#marketplace/price-list.js';
import { QuoteService } from '#usage/quote.service.js';
import type { CallOf } from '../http/route.js';
import { explainQuote } from './charge-explanation.js';
import { chargeRoutes } from './charge.routes.js';

type Asked = CallOf<typeof chargeRoutes.listed>['query'];
type Answer = z.output<typeof chargeRoutes.listed.answer>;

interface KeptQuote {
  readonly answer: Answer;
  /** When the next scheduled price takes effect. Infinity if there is none. */
  readonly untilMs: number;
}

interface PublicQuote {
  readonly answer: Answer;
  readonly isForAll: boolean;
  readonly unchangedMs: number;
}

/** About a kilobyte each. */
const KEPT_QUOTES = 1_000;

/** Public quotes. Those of open groups are cached until a price changes, because many people request the same few. */
export class PublicQuotes {
  private readonly kept = new KeptValues<KeptQuote>(KEPT_QUOTES);

  constructor(
    private readonly market: MarketReader,
    private readonly quotes: QuoteService,
  ) {}

  /** @throws ApiError for what the account, or nobody, can have */
  async find(asked: Asked, accountId: string | null): Promise<PublicQuote> {
    const market = await this.market.read();
    const { catalog, openGroups, nowMs } = market;
    const isForAll = openGroups.has(asked.group);
    // Fields have the order of their schema, and every price change has a new revision.
    const key = `${catalog.revision} ${JSON.stringify(asked)}`;
    const known = isForAll ? this.kept.get(key) : undefined;
    if (known && nowMs < known.untilMs)
      return { answer: known.answer, isForAll, unchangedMs: known.untilMs - nowMs };
    const { quoted, group } = await this.quotes.listed(market, { ...wishOf(asked), accountId });
    const answer = chargeRoutes.listed.answer.parse(explainQuote(catalog.priceBook, quoted, group));
    const { pricedAs } = quoted.model;
    const untilMs = nextChange(market, { model: pricedAs, groups: [group] })?.getTime() ?? Infinity;
    if (isForAll) this.kept.set(key, { answer, untilMs });
    return { answer, isForAll, unchangedMs: untilMs - nowMs };
  }
}

/** Fields of an address with a dot in their names are those of an object. */
function wishOf(asked: Asked) {
  const { model, group, n, seconds, ...dotted } = asked;
  const under = (prefix: string) =>
    Object.entries(dotted)
      .filter(([name, value]) => name.startsWith(prefix) && value !== undefined)
      .map(([name, value]) => [name.slice(prefix.length), value] as const);
  const tokens = under('tokens.') as [string, number][];
  const dimensions = under('dimensions.') as [string, string][];
  return {
    model,
    group,
    n,
    seconds,
    dimensions: Object.fromEntries(dimensions),
    ...(tokens.length > 0 && { tokens: Object.fromEntries(tokens) }),
  };
}
