import type pg from 'pg';
import type { Horizon } from '#ledger/postings/horizon.js';

/** The effect of promotion within a time, in nanos. */
interface PromotionMovement {
  given: bigint;
  /** Clawed back from them, minus what was returned. */
  clawedBack: bigint;
  /** Transferred from invite balances to main, minus what was clawed back from there. */
  moved: bigint;
  /** Used credits that nobody paid for. */
  used: bigint;
}

export interface PromotionReport extends PromotionMovement {
  /** PostgreSQL text, not later than the horizon. */
  from: string;
  to: string;
  /** Invite balances before and after. */
  opening: bigint;
  closing: bigint;
  /** Should have been clawed back but had been spent: noted, not collected. */
  owed: bigint;
  /** The amount that left issued:promo: equal to given minus clawed back if the books are consistent. */
  issued: bigint;
  /** By UTC day, for days with any activity. */
  days: ({ day: string } & PromotionMovement)[];
}

/** Recorded from (inclusive) to (exclusive). Null means from the beginning, or up to the horizon. */
export interface PromotionRange {
  from: Date | null;
  to: Date | null;
}

/** Every fact of promotion with when the ledger recorded it. A claw-back that took nothing has no posting. */
const FACTS = `
SELECT t.recorded_at AS at, r.amount AS given, 0::bigint AS clawed_back, 0::bigint AS moved, 0::bigint AS used,
  0::bigint AS owed
FROM invite_rewards r JOIN ledger_transactions t ON t.id = r.transaction_id
UNION ALL SELECT coalesce(t.recorded_at, c.recorded_at), 0, c.taken, -c.from_main, 0, c.owed
FROM reward_clawbacks c LEFT JOIN ledger_transactions t ON t.id = c.transaction_id
UNION ALL SELECT t.recorded_at, 0, p.amount, -p.from_main, 0, -p.amount
FROM reward_debt_payments p JOIN ledger_transactions t ON t.id = p.transaction_id
UNION ALL SELECT t.recorded_at, 0, 0, m.amount, 0, 0
FROM invite_transfers m JOIN ledger_transactions t ON t.id = m.transaction_id
UNION ALL SELECT t.recorded_at, 0, 0, 0, u.credits, 0
FROM credit_lots l JOIN lot_uses u ON u.lot_id = l.id JOIN ledger_transactions t ON t.id = u.at_id
WHERE l.paid_minor = 0`;

/** Sums of those facts for which a condition holds. */
const sums = (condition: string) =>
  [
    ['given', 'given'],
    ['clawed_back', 'clawedBack'],
    ['moved', 'moved'],
    ['used', 'used'],
  ]
    .map(([column, name]) => `coalesce(sum(${column}) FILTER (WHERE ${condition}), 0)::bigint AS "${name}"`)
    .join(', ');

const BOUNDS = `SELECT least($1::timestamptz, to_at)::text AS "from", to_at::text AS "to"
  FROM (SELECT least($2::timestamptz, $3::timestamptz) AS to_at) AS bound`;
const TOTALS = `SELECT ${sums('at >= $1')},
    coalesce(sum(owed) FILTER (WHERE at >= $1), 0)::bigint AS owed,
    coalesce(sum(given - clawed_back - moved) FILTER (WHERE at < $1), 0)::bigint AS opening
  FROM (${FACTS}) AS facts WHERE at < $2`;
const BY_DAY = `SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, ${sums('true')} FROM (${FACTS}) AS facts
  WHERE at >= $1 AND at < $2 GROUP BY 1 ORDER BY 1`;

/** The cost of invites: a roll-forward of invite balances, with the use of the credits. */
export async function readPromotion(
  client: pg.ClientBase,
  horizon: Horizon,
  range: PromotionRange,
): Promise<PromotionReport> {
  const { rows: times } = await client.query<{ from: string; to: string }>(BOUNDS, [
    range.from ?? '-infinity',
    range.to ?? 'infinity',
    horizon.at,
  ]);
  const { from, to } = times[0] as { from: string; to: string };
  const totals = await client.query<PromotionMovement & { opening: bigint; owed: bigint }>(TOTALS, [
    from,
    to,
  ]);
  const days = await client.query<{ day: string } & PromotionMovement>(BY_DAY, [from, to]);
  const total = totals.rows[0] as PromotionMovement & { opening: bigint; owed: bigint };
  const closing = total.opening + total.given - total.clawedBack - total.moved;
  return { from, to, ...total, closing, issued: await issuedIn(client, from, to), days: days.rows };
}

async function issuedIn(client: pg.ClientBase, from: string, to: string): Promise<bigint> {
  const { rows } = await client.query<{ issued: bigint }>(
    `SELECT coalesce(-sum(e.amount), 0)::bigint AS issued FROM ledger_entries e
     JOIN ledger_transactions t ON t.id = e.transaction_id
     WHERE e.ledger_account_id = (SELECT id FROM ledger_accounts WHERE code = 'issued:promo')
       AND t.recorded_at >= $1 AND t.recorded_at < $2`,
    [from, to],
  );
  return rows[0]?.issued ?? 0n;
}
