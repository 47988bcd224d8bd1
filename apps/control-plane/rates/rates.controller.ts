import { Controller } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { z } from 'zod';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { findAccount } from '#identity/account.store.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { ApiError } from '#platform/errors.js';
import { AccountRates, rateInForce } from '#topup/account-rates.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { rateRoutes, type rateView } from './rates.routes.js';

@Controller()
export class RatesController extends Using({ rates: AccountRates, source: DataSource, pool: POOL }) {
  @Serves(rateRoutes.show)
  async show({ params }: CallOf<typeof rateRoutes.show>) {
    return this.view(params.accountId);
  }

  @Serves(rateRoutes.set)
  async set({ params, body, actor, requestId }: CallOf<typeof rateRoutes.set>) {
    const { accountId } = params;
    const by = `user:${actor.userId}`;
    await this.mustExist(accountId);
    await inEntityTransaction(this.source, async ({ client }) => {
      await refuseOwnInterest(client, actor, accountId);
      const before = await rateInForce(client, accountId);
      const { rate, reason, effectiveFrom = null } = body;
      const wanted = { accountId, rate, effectiveFrom, reason, actor: by, requestId: body.requestId };
      const version = await this.rates.set(client, wanted);
      await audit(client, {
        actor: by,
        action: 'rate.set',
        accountId,
        before: { rate: before },
        after: { rate, effectiveFrom: version.effectiveFrom, reason },
        requestId,
      });
    });
    return this.view(accountId);
  }

  private async view(accountId: string): Promise<View> {
    await this.mustExist(accountId);
    const [volume, versions] = await Promise.all([
      this.rates.volumeOf(accountId),
      this.rates.versions(accountId),
    ]);
    const { rate, verifiedTokens, thresholdTokens } = volume;
    return { accountId, rate, verifiedTokens, thresholdTokens, versions };
  }

  private async mustExist(accountId: string): Promise<void> {
    if (!(await findAccount(this.pool, accountId)))
      throw new ApiError('not_found', 'There is no such account.');
  }
}

type View = z.input<typeof rateView>;
