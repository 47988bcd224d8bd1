import { Controller, Get, Param, Query } from '@nestjs/common';
import type { Caller } from '#identity/key-authenticator.js';
import { Using } from '#platform/wiring.js';
import { GATEWAY_CLOCK, GATEWAY_CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import type { Body } from '../http/fields.js';
import {
  listUsageOperation,
  retrieveChargeOperation,
  retrieveCreditsOperation,
  retrieveKeyOperation,
} from './account.openapi.js';
import { CallerAccount } from './account.reader.js';
import { creditsView, callersKeyView, usageListView } from './account.view.js';
import { chargeView } from './charge.view.js';
import { readUsageQuery } from './usage-days.query.js';

/** Balance and usage for programs that call with a key. */
@Controller('v1')
export class CallerAccountController extends Using({
  account: CallerAccount,
  config: GATEWAY_CONFIG,
  clock: GATEWAY_CLOCK,
}) {
  @Get('key')
  @RouteRules({ counted: true, doc: retrieveKeyOperation })
  async key(@CallerOf() caller: Caller) {
    return callersKeyView(caller, await this.account.key(caller), this.config.defaultLimits);
  }

  @Get('credits')
  @RouteRules({ counted: true, doc: retrieveCreditsOperation })
  async credits(@CallerOf() caller: Caller) {
    return creditsView(await this.account.credits(caller));
  }

  @Get('usage')
  @RouteRules({ counted: true, doc: listUsageOperation })
  async usage(@CallerOf() caller: Caller, @Query() query: Body) {
    const asked = readUsageQuery(query, caller, this.clock.nowMs());
    return usageListView(asked, await this.account.usage(asked));
  }

  @Get('charges/:id')
  @RouteRules({ counted: true, doc: retrieveChargeOperation })
  async charge(@CallerOf() caller: Caller, @Param('id') id: string) {
    const { charge, attempts } = await this.account.charge(caller, id);
    return chargeView(charge, attempts);
  }
}
