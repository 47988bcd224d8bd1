import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { readAccountLimits, setAccountLimits } from '#people/accounts/account-limits.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, routesFor, Serves } from '../http/route.js';

const limit = z.int().min(1).max(1_000_000_000).nullable();
const answer = z
  .object({
    requestsPerMinute: limit,
    tokensPerMinute: limit,
    imagesPerMinute: limit,
    maxConcurrentRequests: limit,
  })
  .meta({ id: 'AccountLimits' });

const forStaff = routesFor(['support', 'admin'], 'Support: accounts');
const forAdmins = routesFor(['admin'], 'Support: accounts');

const accountLimitRoutes = {
  show: forStaff.get('getLimitsOfAccount', '/api/support/accounts/{accountId}/limits', {
    summary: "Get the limits that all keys of an account share. Null means the gateway's default.",
    answer,
  }),
  change: forAdmins.patch('limitAccount', '/api/admin/accounts/{accountId}/limits', {
    summary: "Change the given limits. Null restores the gateway's default.",
    description:
      'These replace the defaults for the account and its keys. Limits set on a key or a group still apply.',
    confirms: true,
    body: z.strictObject({
      requestsPerMinute: limit.optional(),
      tokensPerMinute: limit.optional(),
      imagesPerMinute: limit.optional(),
      maxConcurrentRequests: limit.optional(),
    }),
    answer,
    refusals: ['second_person_required'],
  }),
};

/** Limits of accounts that differ from the defaults. */
@Controller()
export class AccountLimitsController extends Using({ pool: POOL }) {
  @Serves(accountLimitRoutes.show)
  show({ params }: CallOf<typeof accountLimitRoutes.show>) {
    return readAccountLimits(this.pool, params.accountId);
  }

  @Serves(accountLimitRoutes.change)
  change({ params: { accountId }, body, actor, requestId }: CallOf<typeof accountLimitRoutes.change>) {
    return setAccountLimits(this.pool, { by: `user:${actor.userId}`, actor, accountId, requestId }, body);
  }
}
