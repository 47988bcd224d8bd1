import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import { deferredRevenueReport } from '#finance/reports/deferred-revenue.js';
import { ApiError } from '#platform/errors.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, POOL } from '../billing.tokens.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { deferredRevenueRoutes as routes } from './deferred-revenue.routes.js';
import { viewDeferredRevenue } from './deferred-revenue.view.js';
import { daysOf } from './revenue.view.js';

/** What was paid for and is not used yet. */
@Controller()
export class DeferredRevenueController {
  private readonly currency: string;

  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) config: BillingConfig,
  ) {
    this.currency = config.payments.currency;
  }

  @Serves(routes.deferredRevenue)
  async deferredRevenue({
    query,
  }: CallOf<typeof routes.deferredRevenue>): Promise<AnswerOf<typeof routes.deferredRevenue>> {
    const days = daysOf(query, new Date());
    if (days.from >= days.to) throw new ApiError('invalid_value', 'to: must be after from.', { param: 'to' });
    return viewDeferredRevenue(await deferredRevenueReport(this.pool, days), this.currency);
  }
}
