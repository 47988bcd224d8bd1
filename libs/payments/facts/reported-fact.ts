import type pg from 'pg';
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

/** No provider reports anything older, so an older time is an error. */
const OLDEST_FACT_MS = 90 * 24 * 3_600_000;

/** Money is decided at the database's time. */
export async function databaseNow(client: pg.ClientBase): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>('SELECT now()');
  return (rows[0] as { now: Date }).now;
}

/** When a fact that belongs to no account happened. */
export function withoutAccount(reportedAt: string | null, now: Date): string | null {
  return heldBetween(reportedAt, new Date(now.getTime() - OLDEST_FACT_MS), now);
}

/** When a fact of an account happened: not before the account existed. */
export async function ofAccount(
  client: pg.PoolClient,
  accountId: string,
  reportedAt: string | null,
): Promise<string | null> {
  const { rows } = await client.query<{ at: Date; now: Date }>(
    'SELECT created_at AS at, now() FROM accounts WHERE id = $1',
    [accountId],
  );
  return rows[0] ? heldBetween(reportedAt, rows[0].at, rows[0].now) : null;
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
  item: Pick<SuspenseItem, 'reference' | 'orderId' | 'paymentId' | 'amountMinor' | 'why'>,
): Promise<string> {
  const happenedAt = withoutAccount(reportedAt, await databaseNow(client));
  const { itemId } = await bookSuspense(client, { ...item, provider, currency, happenedAt }, house);
  return itemId;
}
