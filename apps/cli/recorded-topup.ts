import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { takeOutflow } from '#ledger/postings/outflow.js';
import { creditTopup, type TopupRequest, type TopupResult } from '#ledger/postings/topup.js';
import { formatAmount, nanos } from '#money/amount.js';
import { OperatorError } from '#platform/errors.js';

/**
 * Credits the first balance of a trial account, and records who did, within what one person may credit per day.
 * @param by `user:{id}`, or `cli:{login}` before there is an administrator
 */
export function recordTrial(pool: pg.Pool, request: TopupRequest, by: string): Promise<TopupResult> {
  return inTransaction(pool, async (client) => {
    const { accountId, paymentId, credits, rate } = request;
    const { taken, limit } = await takeOutflow(client, {
      kind: 'topup.manual',
      actor: by,
      approvedBy: null,
      amount: credits,
      reference: `payment:manual:${paymentId}`,
      accountId,
    });
    if (!taken) throw beyondLimit(limit);
    const result = await creditTopup(client, request);
    await audit(client, {
      actor: by,
      action: 'topup.recorded',
      subject: `topup:${result.topupId}`,
      accountId,
      after: { paymentId, credits: formatAmount(credits), rate },
      requestId: null,
    });
    return result;
  });
}

function beyondLimit(limit: bigint): OperatorError {
  const most = formatAmount(nanos(limit));
  return new OperatorError(
    `One person can add at most ${most} credits per day, so the account has no balance.`,
  );
}
