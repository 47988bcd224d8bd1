import type pg from 'pg';
import { findSuspense, type SuspenseItem } from '#ledger/postings/suspense.js';
import { endTopupRefund, findTopupRefund } from '#ledger/postings/topup-refund.js';
import { broughtBack, type EventOutcome } from '../payment.notices.js';
import { afterPostings, lockPayment, lockSuspended, suspend, type ReportedFact } from './reported-fact.js';
import { withinPayment } from './suspended-dispute.js';

/** A refund ended: one that we requested, or one made at the provider itself. */
export async function applyRefund(
  client: pg.PoolClient,
  fact: ReportedFact<'refund'>,
): Promise<EventOutcome> {
  const { provider, providerRefundId, state: outcome, failure, reportedAt } = fact;
  const ours = fact.refundId === null ? await findOurs(client, fact) : { id: fact.refundId, isNamed: true };
  if (ours?.isNamed === false)
    return {
      state: 'waiting',
      detail: `It may be refund ${ours.id}, whose id at ${provider} is not known yet.`,
    };
  const refundId = ours?.id ?? null;
  const known = refundId === null ? null : await findTopupRefund(client, refundId);
  if (refundId === null || known?.provider !== provider) return foreignRefund(client, fact);
  const endedAt = await afterPostings(client, [known.transactionId], reportedAt);
  const refund = await endTopupRefund(client, { refundId, providerRefundId, outcome, failure, endedAt });
  if (refund.isBack) return broughtBack(refundId);
  if (refund.state === outcome) return { state: 'applied', detail: `Refund ${refundId} has ${outcome}.` };
  if (refund.state !== 'succeeded') {
    return { state: 'ignored', detail: `Refund ${refundId} had ended as ${refund.state}.` };
  }
  return refundCameBack(client, fact);
}

/**
 * A line of a report has only the provider's id of a refund, which we may not have stored yet after a crash. Both are read in
 * one statement, because it may be stored at this moment.
 * @returns our refund with that id, or else one of the payment that has no id yet
 */
async function findOurs(
  client: pg.PoolClient,
  { provider, providerRefundId, paymentId = null }: ReportedFact<'refund'>,
): Promise<{ id: string; isNamed: boolean } | null> {
  const { rows } = await client.query<{ id: string; isNamed: boolean }>(
    `SELECT r.id, true AS "isNamed" FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
     WHERE t.provider = $1 AND r.provider_refund_id = $2
     UNION ALL SELECT r.id, false FROM topups t JOIN topup_refunds r ON r.topup_id = t.id
     WHERE t.provider = $1 AND t.payment_id = $3 AND r.state = 'pending' AND r.provider_refund_id IS NULL
     ORDER BY "isNamed" DESC LIMIT 1`,
    [provider, providerRefundId, paymentId],
  );
  return rows[0] ?? null;
}

/** The bank returned what we had booked as refunded: the money is back, in the parts in which it left, and belongs to nobody. */
async function refundCameBack(client: pg.PoolClient, fact: ReportedFact<'refund'>): Promise<EventOutcome> {
  const { provider, providerRefundId: reference, paymentId = null } = fact;
  const why = 'refund_failed';
  // The caller holds the lock of the refund, so that one of several events about it is the first.
  const known = await findSuspense(client, { provider, reference, why });
  if (known) return { state: 'ignored', detail: `The refund came back before: suspense ${known.itemId}.` };
  const back = { reference, orderId: null, paymentId, why } as const;
  const ids = await suspendParts(client, fact, { ...back, parts: await partsOf(client, fact) });
  return { state: 'suspense', detail: `A refund came back after its end: suspense ${ids}.`, alert: why };
}

/**
 * The parts in which a refund left, each with the item that it undoes. All of it if these are not its amount, or it was one of
 * ours.
 */
async function partsOf(
  client: pg.PoolClient,
  { provider, providerRefundId, amountMinor }: ReportedFact<'refund'>,
): Promise<Part[]> {
  const { rows } = await client.query<{ amountMinor: bigint; undoes: string }>(
    `SELECT -amount_minor AS "amountMinor", id AS undoes FROM suspense_items
     WHERE provider = $1 AND reference = $2 AND why = 'unknown_refund' ORDER BY transaction_id`,
    [provider, providerRefundId],
  );
  return rows.reduce((sum, part) => sum + part.amountMinor, 0n) === amountMinor ? rows : [{ amountMinor }];
}

type Part = Pick<SuspenseItem, 'amountMinor' | 'undoes'>;

/** Books a refund as one item, or one within its payment and one beyond. @returns their ids */
async function suspendParts(
  client: pg.PoolClient,
  fact: ReportedFact<'refund'>,
  { parts, ...item }: Pick<SuspenseItem, 'reference' | 'orderId' | 'paymentId' | 'why'> & { parts: Part[] },
): Promise<string> {
  const ids: string[] = [];
  for (const [index, each] of parts.entries())
    ids.push(await suspend(client, fact, { ...item, ...each, part: index === 0 ? undefined : 'beyond' }));
  return ids.join(' and ');
}

/** Someone refunded money in the provider's own dashboard. People decide what follows, but nobody credits what is gone. */
async function foreignRefund(client: pg.PoolClient, fact: ReportedFact<'refund'>): Promise<EventOutcome> {
  const { provider, providerRefundId: reference, paymentId = null, amountMinor } = fact;
  const why = 'unknown_refund';
  await lockPayment(client, provider, reference);
  const known = await findSuspense(client, { provider, reference, why });
  if (fact.state === 'failed' && known) return refundCameBack(client, fact);
  if (fact.state === 'failed' || amountMinor <= 0n) {
    return { state: 'ignored', detail: 'A refund that we did not ask for failed.' };
  }
  if (await hasFailed(client, fact))
    return { state: 'ignored', detail: 'A refund that we did not ask for has failed since.' };
  if (known) return { state: 'ignored', detail: `The refund is in suspense already, as ${known.itemId}.` };
  const gone = { reference, orderId: null, paymentId, why } as const;
  const beyond = amountMinor - (await withinSuspended(client, fact));
  // Returning the payment ends only what is within it. All of a refund is one item, if all of it is within or beyond.
  const amounts = beyond === 0n || beyond === amountMinor ? [-amountMinor] : [beyond - amountMinor, -beyond];
  const parts = amounts.map((amount) => ({ amountMinor: amount }));
  const detail = `A refund that we did not ask for: suspense ${await suspendParts(client, fact, { ...gone, parts })}.`;
  return { state: 'suspense', detail, alert: why };
}

/** How much of a refund at the provider is of its payment, if that went to suspense; all of it otherwise. Locks the payment. */
async function withinSuspended(
  client: pg.PoolClient,
  { paymentId = null, ...fact }: ReportedFact<'refund'>,
): Promise<bigint> {
  if (paymentId === null) return fact.amountMinor;
  const about = { ...fact, paymentId };
  const payment = await lockSuspended(client, about);
  return payment === null ? fact.amountMinor : withinPayment(client, about, payment);
}

/** A failure is final, and its event may arrive first. Both events hold the lock of the refund, so the second sees the first. */
async function hasFailed(
  client: pg.PoolClient,
  { provider, providerRefundId }: ReportedFact<'refund'>,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM payment_events WHERE provider = $1 AND payload ->> 'providerRefundId' = $2
       AND payload ->> 'state' = 'failed' LIMIT 1`,
    [provider, providerRefundId],
  );
  return rowCount === 1;
}
