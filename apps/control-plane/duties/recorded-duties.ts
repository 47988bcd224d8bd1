import { inTransaction } from '#database/database.js';
import { recordFact } from '#identity/installation.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import type { Shared } from '../control-plane.tokens.js';

/** The limits that this program was started with apply to everyone, including the command line. */
export async function recordDuties({ pool, config: { duties, payments } }: Shared): Promise<void> {
  await recordLimit(pool, 'charge-refund', duties.refundLimit);
  await recordLimit(pool, 'topup-refund', duties.topupRefundLimit);
  await recordLimit(pool, 'manual-topup', duties.manualTopupLimit);
  await recordLimit(pool, 'adjustment', duties.adjustmentLimit);
  await recordLimit(pool, 'price-change-percent', BigInt(duties.priceChangePercent));
  await inTransaction(pool, async (client) => {
    await recordFact(client, 'one-person', duties.onePerson);
    await recordFact(client, 'played-payments', payments.sandbox !== null && payments.stripe === null);
  });
}
