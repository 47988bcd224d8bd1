import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import { enterBillingDetails, readBillingDetails } from '#payments/receipts/billing-details.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { billingDetailsRoutes as routes } from './billing-details.routes.js';

@Controller()
export class BillingDetailsController {
  constructor(@Inject(POOL) private readonly pool: pg.Pool) {}

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
