import type pg from 'pg';
import { applyDisputeFact } from './dispute.fact.js';
import type { EventOutcome } from '../payment.notices.js';
import type { PaymentEvent } from '../payment.provider.js';
import { applyPaid, endOrder } from './paid.fact.js';
import { applyRefund } from './refund.fact.js';

/** Applies a reported fact in the caller's transaction. @param house the payment currency, ISO 4217 */
export async function applyFact(
  client: pg.PoolClient,
  { provider, fact, happenedAt: reportedAt = null, house }: PaymentEvent & { house: string },
): Promise<EventOutcome> {
  const about = { provider, reportedAt, house };
  switch (fact.kind) {
    case 'paid':
      return applyPaid(client, { ...fact, ...about });
    case 'ended':
      return endOrder(client, { ...fact, ...about });
    case 'refund':
      return applyRefund(client, { ...fact, ...about });
    case 'dispute':
      return applyDisputeFact(client, { ...fact, ...about });
    case 'nothing':
      return { state: 'ignored', detail: 'It does not concern us.' };
  }
}
