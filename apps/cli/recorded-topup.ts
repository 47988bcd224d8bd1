import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { creditTopup, type TopupRequest, type TopupResult } from '#ledger/topup.js';
import { formatAmount } from '#money/amount.js';
import { operatorName } from './operator-name.js';

/** Credits a payment and notes who recorded it, all or nothing; a repeat notes nothing. */
export function recordAudited(pool: pg.Pool, request: TopupRequest): Promise<TopupResult> {
  return inTransaction(pool, async (client) => {
    const result = await creditTopup(client, request);
    if (result.created) {
      const { accountId, paymentId, credits, rate } = request;
      await audit(client, {
        actor: operatorName(),
        action: 'topup.recorded',
        subject: `topup:${result.topupId}`,
        accountId,
        after: { paymentId, credits: formatAmount(credits), rate },
        requestId: null,
      });
    }
    return result;
  });
}
