import { Controller } from '@nestjs/common';
import { enterBillingDetails, readBillingDetails } from '#payments/receipts/billing-details.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { billingDetailsRoutes as routes } from './billing-details.routes.js';

@Controller()
export class BillingDetailsController extends Using({ pool: POOL }) {
  @Serves(routes.show)
  show({ actor }: CallOf<typeof routes.show>) {
    return readBillingDetails(this.pool, actor.accountId);
  }

  @Serves(routes.enter)
  async enter({ actor, body, requestId }: CallOf<typeof routes.enter>) {
    const { accountId, userId } = actor;
    await enterBillingDetails(this.pool, { accountId, by: `user:${userId}`, requestId }, body);
    return body;
  }
}
