import { Controller, Get, Query } from '@nestjs/common';
import type { Caller } from '#identity/key-authenticator.js';
import { formatAmount } from '#money/amount.js';
import { spendableBy } from '#usage/key-allowance.js';
import type { UsageOfDay } from '#usage/usage-days.js';
import { Using } from '#platform/wiring.js';
import { GATEWAY_CLOCK } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import type { Body } from '../http/fields.js';
import { retrieveBillingUsageOperation, retrieveSubscriptionOperation } from './account.openapi.js';
import { CallerAccount } from './account.reader.js';
import { unixSeconds } from './account.view.js';
import { readBillingQuery } from './usage-days.query.js';

const CENTS = 100n;

/**
 * The same in OpenAI's legacy format for existing clients. The remaining balance is `hard_limit_usd` minus `total_usage` / 100,
 * so both include everything the key has ever used. These clients need amounts as numbers.
 */
@Controller('v1/dashboard/billing')
export class OpenAiBillingController extends Using({ account: CallerAccount, clock: GATEWAY_CLOCK }) {
  @Get('subscription')
  @RouteRules({ counted: true, doc: retrieveSubscriptionOperation })
  async subscription(@CallerOf() caller: Caller) {
    const allowance = await this.account.key(caller);
    const limit = shownNumber(allowance.total.used + spendableBy(allowance));
    return {
      object: 'billing_subscription',
      has_payment_method: true,
      soft_limit_usd: limit,
      hard_limit_usd: limit,
      system_hard_limit_usd: limit,
      access_until: allowance.expiresAt === null ? 0 : unixSeconds(allowance.expiresAt),
    };
  }

  @Get('usage')
  @RouteRules({ counted: true, doc: retrieveBillingUsageOperation })
  async usage(@CallerOf() caller: Caller, @Query() query: Body) {
    const asked = readBillingQuery(query, caller, this.clock.nowMs());
    const [{ total }, days] = await Promise.all([this.account.key(caller), this.account.usage(asked)]);
    return { object: 'list', total_usage: shownNumber(total.used * CENTS), daily_costs: dailyCosts(days) };
  }
}

/** Oldest first, in cents. */
function dailyCosts(days: readonly UsageOfDay[]) {
  return [...Map.groupBy(days, ({ day }) => day)].reverse().map(([day, models]) => ({
    timestamp: unixSeconds(new Date(day)),
    line_items: models.map(({ model, settled }) => ({ name: model, cost: shownNumber(settled * CENTS) })),
  }));
}

/** An amount for display only, never for calculations. */
function shownNumber(nanos: bigint): number {
  return Number(formatAmount(nanos));
}
