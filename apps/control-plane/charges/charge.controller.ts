import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import { MarketReader } from '#marketplace/price-list.js';
import { chargeIdsOf } from '#ledger/charges/charge-ids.js';
import { findAttempts, readCharge } from '#usage/charge.reader.js';
import { QuoteService } from '#usage/quote.service.js';
import { POOL } from '../control-plane.tokens.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { explainCharge, explainQuote } from './charge-explanation.js';
import { chargeRoutes as routes } from './charge.routes.js';

/** What requests cost, and why; and what they would cost. */
@Controller()
export class ChargeController {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(MarketReader) private readonly market: MarketReader,
    @Inject(QuoteService) private readonly quotes: QuoteService,
  ) {}

  @Serves(routes.show)
  async show({ params, actor }: CallOf<typeof routes.show>) {
    return this.explain(params.chargeId, actor.accountId);
  }

  @Serves(routes.support)
  async support({ params }: CallOf<typeof routes.support>) {
    return this.explain(params.chargeId, null);
  }

  @Serves(routes.quote)
  async quote({ body, actor }: CallOf<typeof routes.quote>) {
    const { quoted, group, market, balance, covered, estimate } = await this.quotes.quote({
      ...body,
      accountId: actor.accountId,
    });
    return {
      ...explainQuote(market.catalog.priceBook, quoted, group),
      estimate: estimate && {
        input: estimate.input.most,
        likelyInput: estimate.input.likely,
        output: estimate.output,
      },
      at: new Date(market.nowMs),
      balance,
      covered,
    };
  }

  @Serves(routes.listed)
  async listed({ body, session }: CallOf<typeof routes.listed>) {
    const accountId = session?.view?.accountId ?? session?.actor.accountId ?? null;
    const { quoted, group, market } = await this.quotes.listed({ ...body, accountId });
    return { ...explainQuote(market.catalog.priceBook, quoted, group), at: new Date(market.nowMs) };
  }

  private async explain(chargeId: string, accountId: string | null): Promise<AnswerOf<typeof routes.show>> {
    const charge = await readCharge(this.pool, chargeId, accountId);
    if (!charge) throw new ApiError('not_found', 'There is no such charge.');
    const { id, requestId } = charge;
    const attempts = await findAttempts(this.pool, chargeIdsOf(requestId ?? id), charge.accountId);
    // Read after the charge: every version that the charge names is in it.
    const { catalog } = await this.market.read();
    return explainCharge(catalog.priceBook, { ...charge, attempts }, accountId === null);
  }
}
