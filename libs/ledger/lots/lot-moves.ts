import type pg from 'pg';
import type { Family } from '#pricing/price-book.js';
import type { LotPurpose } from './lot.js';
import type { LockedAccount } from '../postings/posting.js';

/** The movement of an account's main and held balances in one transaction, or in a row of settlements. */
export interface Move {
  accountId: string;
  firstId: bigint;
  id: bigint;
  count: number;
  kind: string;
  purpose: LotPurpose | null;
  net: bigint;
  chargeId: string | null;
  linkedId: bigint | null;
  /** ISO 8601 in UTC, the last of a row; not later than now, should a clock have been set back. */
  effectiveAt: string;
}

/** The transactions of one account after an ID. */
export interface AccountScope {
  readonly account: LockedAccount;
  readonly after: bigint;
}

/** ISO 8601 in UTC, to the microsecond, as SQL: such texts are in the order of their times. */
export function isoText(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/**
 * A settlement takes from main and held together what it books as usage. Everything else is rare, and is recognised by what it
 * moved on both. $1: main and held; $2: after which transaction; $3: whether settlements are listed one by one; $4 and $5: the
 * accounts of usage.
 */
const OF_ACCOUNT = `
  WITH scope AS MATERIALIZED (
    SELECT t.id, t.kind, t.charge_id, t.linked_id, t.effective_at, e.net FROM (
      SELECT transaction_id, sum(amount)::bigint AS net FROM ledger_entries
      WHERE ledger_account_id = ANY ($1::bigint[]) AND transaction_id > $2 GROUP BY 1) AS e
    CROSS JOIN LATERAL (SELECT * FROM ledger_transactions t WHERE t.id = e.transaction_id OFFSET 0) AS t
    WHERE t.kind NOT IN ('hold', 'release')),
  moves AS (
    SELECT s.id, s.kind, u.family AS purpose, -e.amount AS net, s.effective_at, (s.effective_at AT TIME ZONE 'UTC')::date AS day,
      NULL AS charge_id, NULL::bigint AS linked_id
    FROM scope s CROSS JOIN LATERAL (SELECT * FROM ledger_entries e WHERE e.transaction_id = s.id OFFSET 0) AS e
    JOIN unnest($4::bigint[], $5::text[]) AS u (id, family) ON u.id = e.ledger_account_id
    WHERE s.kind = 'settle'
    UNION ALL SELECT id, kind, NULL, net, effective_at, NULL, charge_id, linked_id FROM scope WHERE kind <> 'settle'),
  marked AS (
    SELECT *, $3 OR kind <> 'settle' OR purpose IS DISTINCT FROM lag(purpose) OVER w
      OR day IS DISTINCT FROM lag(day) OVER w AS begins
    FROM moves WINDOW w AS (ORDER BY id)),
  numbered AS (
    SELECT *, count(*) FILTER (WHERE begins) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS run FROM marked)
  SELECT min(id) AS "firstId", max(id) AS id, count(*)::int AS count, min(kind) AS kind, min(purpose) AS purpose,
    sum(net)::bigint AS net, min(charge_id) AS "chargeId", min(linked_id) AS "linkedId",
    ${isoText('least(max(effective_at), clock_timestamp())')} AS "effectiveAt"
  FROM numbered GROUP BY run ORDER BY max(id)`;

/** What one account's transactions did, in their order; rows of settlements of one family and UTC day together, or not. */
export async function readMovesOfAccount(
  client: pg.ClientBase,
  { account, after }: AccountScope,
  isOneByOne: boolean,
): Promise<Move[]> {
  const { accountId, ledgerIds } = account;
  const usage = await usageAccounts(client);
  const { rows } = await client.query<Omit<Move, 'accountId'>>(OF_ACCOUNT, [
    [ledgerIds.main, ledgerIds.held],
    after,
    isOneByOne,
    [...usage.keys()],
    [...usage.values()],
  ]);
  return rows.map((row) => ({ ...row, accountId }));
}

const USAGE = {
  'usage:image': 'image',
  'usage:video': 'video',
  'usage:chat': 'chat',
  'usage:speech': 'speech',
  'usage:3d': '3d',
} satisfies { [F in Family as `usage:${F}`]: F };

export async function usageAccounts(client: pg.ClientBase): Promise<Map<string, Family>> {
  const { rows } = await client.query<{ id: string; code: keyof typeof USAGE }>(
    'SELECT id::text, code FROM ledger_accounts WHERE code = ANY ($1)',
    [Object.keys(USAGE)],
  );
  return new Map(rows.map(({ id, code }) => [id, USAGE[code]]));
}
