import { Controller } from '@nestjs/common';
import { ApiError } from '#platform/errors.js';
import { MarketReader } from '#marketplace/price-list.js';
import { chargeIdsOf } from '#ledger/charges/charge-ids.js';
import { findAttempts, readCharge } from '#usage/charge.reader.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { explainCharge } from './charge-explanation.js';
import { chargeRoutes as routes } from './charge.routes.js';

@Controller()
export class ChargeController extends Using({ pool: POOL, market: MarketReader }) {
  @Serves(routes.show)
  async show({ params, actor }: CallOf<typeof routes.show>) {
    return this.explain(params.chargeId, actor.accountId);
  }

  @Serves(routes.support)
  async support({ params }: CallOf<typeof routes.support>) {
    return this.explain(params.chargeId, null);
  }

  private async explain(chargeId: string, accountId: string | null): Promise<AnswerOf<typeof routes.show>> {
    const charge = await readCharge(this.pool, chargeId, accountId);
    if (!charge) throw new ApiError('not_found', 'There is no such charge.');
    const { id, requestId } = charge;
    const attempts = await findAttempts(this.pool, chargeIdsOf(requestId ?? id), charge.accountId);
    // Read after the charge, so that it contains every version that the charge names.
    const { catalog } = await this.market.read();
    return explainCharge(catalog.priceBook, { ...charge, attempts }, accountId === null);
  }
}
