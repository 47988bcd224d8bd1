import { Controller } from '@nestjs/common';
import { QuoteService } from '#usage/quote.service.js';
import { Using } from '#platform/wiring.js';
import { accountSeen } from '../http/call-session.js';
import { cachedAnswer } from '../http/cached-answer.js';
import { type CallOf, Serves } from '../http/route.js';
import { explainQuote } from './charge-explanation.js';
import { chargeRoutes as routes } from './charge.routes.js';
import { PublicQuotes } from './public-quotes.js';

/** It only changes with prices. */
const QUOTE_AGE_MS = 60_000;

@Controller()
export class QuotesController extends Using({ quotes: QuoteService, publicQuotes: PublicQuotes }) {
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
  async listed(call: CallOf<typeof routes.listed>) {
    const found = await this.publicQuotes.find(call.query, accountSeen(call.session));
    const { answer, isForAll, unchangedMs } = found;
    return cachedAnswer(call, answer, { ageMs: Math.min(QUOTE_AGE_MS, unchangedMs), isForAll });
  }
}
