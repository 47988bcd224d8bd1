import type pg from 'pg';
import { atHorizon } from '#ledger/postings/horizon.js';

/** A credit lot at the end of a UTC day, as part of deferred revenue. Credits in nanos, money in minor units. */
export interface DeferredLot {
  lotId: bigint;
  accountId: string;
  /** Null if nobody paid for it, such as a reward or an adjustment. */
  topupId: string | null;
  /** The ledger transaction that created it. */
  transactionId: bigint;
  boughtAt: Date;
  bought: bigint;
  /** The amount paid for the whole lot: its basis. */
  paidMinor: bigint;
  /** Used, including covered debts. */
  consumed: bigint;
  /** The part of it that was refunded after settlement. */
  restored: bigint;
  /** Being refunded to the customer, or refunded. */
  refunded: bigint;
  chargedBack: bigint;
  /** Removed by a reversed adjustment or write-off, minus what one returned. */
  reversed: bigint;
  /** bought - consumed + restored - refunded - chargedBack - reversed. */
  left: bigint;
  /** The paid amount that is revenue or has made up for a loss. */
  recognisedMinor: bigint;
  /** Refunds not yet answered by the provider, which are still deferred. */
  pendingMinor: bigint;
  /** The deferred revenue of this lot. All lots together equal the balance. */
  deferredMinor: bigint;
}

export interface DeferredLotsQuery {
  /** The UTC day after the last one, such as 2026-02-01. */
  to: string;
  accountId: string | null;
  /** Only lots with unused credits or deferred revenue. */
  leftOnly: boolean;
  limit: number;
  /** The last lot of the previous page. */
  after: bigint | null;
}

/** As in the roll-forward: recognition counts when its posting is effective, uses when they are. */
const LOTS = `
SELECT l.id AS "lotId", l.account_id AS "accountId", l.topup_id AS "topupId", t.id AS "transactionId",
  t.effective_at AS "boughtAt", l.credits AS bought, l.paid_minor AS "paidMinor",
  u.consumed::bigint, u.restored::bigint, c.refunded::bigint, c.charged_back::bigint AS "chargedBack", c.reversed::bigint,
  sums.left::bigint, r.recognised::bigint AS "recognisedMinor", p.pending::bigint AS "pendingMinor",
  sums.deferred::bigint AS "deferredMinor"
FROM credit_lots l JOIN ledger_transactions t ON t.id = l.transaction_id
CROSS JOIN LATERAL (
  SELECT coalesce(sum(credits) FILTER (WHERE credits > 0), 0) AS consumed,
    coalesce(-sum(credits) FILTER (WHERE credits < 0), 0) AS restored
  FROM lot_uses WHERE lot_id = l.id AND effective_at < $1) AS u
CROSS JOIN LATERAL (
  SELECT coalesce(sum(lu.minor), 0) AS recognised FROM lot_uses lu JOIN ledger_transactions rt ON rt.id = lu.recognition_id
  WHERE lu.lot_id = l.id AND rt.effective_at < $1) AS r
CROSS JOIN LATERAL (
  SELECT coalesce(-sum(ch.credits) FILTER (WHERE ch.kind LIKE 'refund%'), 0) AS refunded,
    coalesce(-sum(ch.credits) FILTER (WHERE ch.kind LIKE 'chargeback%'), 0) AS charged_back,
    coalesce(-sum(ch.credits) FILTER (WHERE ch.kind LIKE '%-reversed'), 0) AS reversed,
    coalesce(sum(ch.credits), 0) AS changed, coalesce(sum(ch.paid_minor), 0) AS changed_minor
  FROM credit_lot_changes ch JOIN ledger_transactions ct ON ct.id = ch.transaction_id
  WHERE ch.lot_id = l.id AND ch.kind <> 'debt' AND ct.effective_at < $1) AS c
CROSS JOIN LATERAL (
  SELECT coalesce(sum(f.paid_minor), 0) AS pending FROM topup_refunds f JOIN ledger_transactions ft ON ft.id = f.transaction_id
  LEFT JOIN ledger_transactions ended ON ended.id = f.ended_transaction_id
  WHERE f.topup_id = l.topup_id AND ft.effective_at < $1 AND (ended.id IS NULL OR ended.effective_at >= $1)) AS p
CROSS JOIN LATERAL (
  SELECT l.credits + c.changed - u.consumed + u.restored AS left,
    l.paid_minor + c.changed_minor - r.recognised + p.pending AS deferred) AS sums
WHERE l.id > $2 AND t.effective_at < $1 AND ($3::text IS NULL OR l.account_id = $3)
  AND (NOT $4 OR sums.left <> 0 OR sums.deferred <> 0)
ORDER BY l.id LIMIT $5`;

/** A page of the lots behind the closing balance of deferred revenue, in order of creation. */
async function readDeferredLots(
  client: pg.ClientBase,
  { to, accountId, leftOnly, limit, after }: DeferredLotsQuery,
): Promise<DeferredLot[]> {
  const at = `(($1::date)::timestamp AT TIME ZONE 'UTC')`;
  const values = [to, after ?? 0n, accountId, leftOnly, limit];
  return (await client.query<DeferredLot>(LOTS.replaceAll('$1', at), values)).rows;
}

/** The same up to the horizon. */
export function deferredLots(pool: pg.Pool, query: DeferredLotsQuery): Promise<DeferredLot[]> {
  return atHorizon(pool, (client) => readDeferredLots(client, query));
}
