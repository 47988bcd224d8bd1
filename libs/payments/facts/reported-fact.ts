import type pg from 'pg';
import { databaseNowMs } from '#database/database.js';
import { lockOne } from '#database/locks.js';
import { heldBetween } from '#ledger/postings/effective-time.js';
import { bookSuspense, type SuspenseItem } from '#ledger/postings/suspense.js';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import type { PaymentFact } from '../payment.provider.js';

/** A fact with its provider, and when it happened as the provider says. */
export type ReportedFact<K extends PaymentFact['kind']> = Extract<PaymentFact, { kind: K }> & {
  provider: PaymentProviderName;
  /** ISO 8601; null: not reported. */
  reportedAt: string | null;
  /** The payment currency of the installation, ISO 4217. */
  house: string;
};

/** Events of one payment wait for each other, whatever else they name. */
export async function lockPayment(client: pg.PoolClient, provider: string, paymentId: string): Promise<void> {
  await lockOne(client, 'payment', provider, paymentId);
}

/** A payment that went to suspense. */
export interface SuspendedPayment {
  orderId: string | null;
  amountMinor: bigint;
  transactionId: bigint;
}

/** Locks it, so that nobody credits or returns it at the same moment. Null if it never was in suspense. */
export async function lockSuspended(
  client: pg.PoolClient,
  { provider, paymentId, currency }: Pick<ReportedFact<'dispute'>, 'provider' | 'paymentId' | 'currency'>,
): Promise<SuspendedPayment | null> {
  const { rows } = await client.query<SuspendedPayment>(
    `SELECT order_id AS "orderId", amount_minor AS "amountMinor", transaction_id AS "transactionId" FROM suspense_items
     WHERE provider = $1 AND reference = $2 AND currency = $3 AND amount_minor > 0 FOR UPDATE`,
    [provider, paymentId, currency],
  );
  return rows[0] ?? null;
}

/** No provider reports anything older, so an older time is an error. */
const OLDEST_FACT_MS = 90 * 24 * 3_600_000;

/** When a fact that belongs to no account happened. */
function withoutAccount(reportedAt: string | null, nowMs: number): string | null {
  return heldBetween(reportedAt, new Date(nowMs - OLDEST_FACT_MS), new Date(nowMs));
}

/** When a fact happened that follows from postings: not before them, or a day would show it without what it follows from. */
export async function afterPostings(
  client: pg.PoolClient,
  transactionIds: readonly (bigint | null)[],
  reportedAt: string | null,
): Promise<string | null> {
  const { rows } = await client.query<{ at: Date; now: Date }>(
    'SELECT max(effective_at) AS at, now() FROM ledger_transactions WHERE id = ANY ($1::bigint[])',
    [transactionIds],
  );
  const { at, now } = rows[0] as { at: Date; now: Date };
  return heldBetween(reportedAt, at, now);
}

/** Books money that belongs to no account yet. @returns the item's id */
export async function suspend(
  client: pg.PoolClient,
  {
    provider,
    currency,
    reportedAt,
    house,
  }: Pick<ReportedFact<'paid'>, 'provider' | 'currency' | 'reportedAt' | 'house'>,
  item: Pick<SuspenseItem, 'reference' | 'orderId' | 'paymentId' | 'amountMinor' | 'why' | 'part' | 'undoes'>,
): Promise<string> {
  const happenedAt = withoutAccount(reportedAt, await databaseNowMs(client));
  const { itemId } = await bookSuspense(client, { ...item, provider, currency, happenedAt }, house);
  return itemId;
}
