import type pg from 'pg';
import { fetched } from '../postings/cursor.js';
import { atHorizon, type Horizon } from '../postings/horizon.js';

export type LedgerKind = 'liability' | 'asset' | 'revenue' | 'contra' | 'expense' | 'clearing';
export type Commodity = 'CRD' | 'PAY' | 'UPC';

/** The time of postings that counts: when they were recorded, or when the recorded facts happened. */
export type TimeOf = 'recorded' | 'effective';

export interface TrialBalanceQuery {
  by: TimeOf;
  /** Includes postings before this time. Null means all. */
  at: Date | null;
  /** By effective time: only what was recorded before this time, as in an earlier report. Text or Date. */
  recordedBefore?: string | Date | null;
}

export interface LedgerBalance {
  ledgerAccountId: bigint;
  code: string;
  kind: LedgerKind;
  commodity: Commodity;
  /** The customer's account, for ledger accounts of customers. */
  accountId: string | null;
  /** Positive is a credit; units of the commodity: nanos of CRD and UPC, minor units of PAY. */
  balance: bigint;
}

export interface TrialBalance {
  by: TimeOf;
  /** The reported time: postings before it are included. Earlier than requested if the ledger is not final that far. */
  at: string;
  /** Recorded before this time. Repeating the query with it always returns the same answer. */
  recordedBefore: string;
  /** Accounts with any movements, by code. */
  balances: LedgerBalance[];
  /** Per commodity. Each is 0 if the books are consistent. */
  totals: { commodity: Commodity; total: bigint }[];
}

/**
 * The balances of all ledger accounts at an instant. It stops at the horizon, so it stays true: for its `at` by recorded time,
 * and for `at` and `recordedBefore` together by effective time, because late facts can arrive.
 */
export function trialBalance(pool: pg.Pool, query: TrialBalanceQuery): Promise<TrialBalance> {
  const recordedBefore = query.by === 'recorded' ? query.at : query.recordedBefore;
  return atHorizon(pool, (client, horizon) => readTrialBalance(client, horizon, query), recordedBefore);
}

/** The same on the caller's open snapshot. */
export async function readTrialBalance(
  client: pg.ClientBase,
  horizon: Horizon,
  query: TrialBalanceQuery,
): Promise<TrialBalance> {
  const cut = await cutOf(client, horizon, query);
  const { sql, values } = await balancesQuery(client, cut);
  const { rows } = await client.query<BalanceRow>(sql, values);
  const balances = rows.map(balanceOf);
  const totals = new Map<Commodity, bigint>();
  for (const { commodity, balance } of balances)
    totals.set(commodity, (totals.get(commodity) ?? 0n) + balance);
  return {
    by: query.by,
    at: query.by === 'recorded' ? cut.recordedBefore : cut.effectiveBefore,
    recordedBefore: cut.recordedBefore,
    balances,
    totals: [...totals].map(([commodity, total]) => ({ commodity, total })),
  };
}

/** The same balances in chunks, for readers that do not need all of them at once. */
export async function* streamBalances(
  client: pg.ClientBase,
  horizon: Horizon,
  query: TrialBalanceQuery,
): AsyncGenerator<LedgerBalance[]> {
  const { sql, values } = await balancesQuery(client, await cutOf(client, horizon, query));
  for await (const rows of fetched<BalanceRow>(client, sql, values)) yield rows.map(balanceOf);
}

/** Postings recorded before the one time and effective before the other. */
interface Cut {
  recordedBefore: string;
  effectiveBefore: string;
}

/** Decided by the database, whose times have microseconds. */
async function cutOf(client: pg.ClientBase, horizon: Horizon, query: TrialBalanceQuery): Promise<Cut> {
  const { by, at, recordedBefore } = query;
  const bound = (by === 'recorded' ? at : recordedBefore) ?? 'infinity';
  const { rows } = await client.query<Cut>(
    `SELECT least($1::timestamptz, $2::timestamptz)::text AS "recordedBefore",
       CASE WHEN $3 THEN 'infinity' ELSE coalesce($4::timestamptz, least($1::timestamptz, $2::timestamptz)) END::text AS "effectiveBefore"`,
    [horizon.at, bound, by === 'recorded', at],
  );
  return rows[0] as Cut;
}

const BALANCES = `SELECT a.id::text AS "ledgerAccountId", a.code, a.kind, a.commodity, a.account_id AS "accountId",
    (coalesce(stored.balance, 0) + coalesce(since.amount, 0) - coalesce(beyond.amount, 0))::text AS balance
  FROM ledger_accounts a
  LEFT JOIN LATERAL (SELECT s.balance FROM ledger_balance_snapshots s WHERE s.ledger_account_id = a.id AND s.day <= $1::date
    ORDER BY s.day DESC LIMIT 1) AS stored ON true
  LEFT JOIN (SELECT e.ledger_account_id, sum(e.amount) AS amount
    FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
    WHERE t.id >= $2::bigint AND e.transaction_id >= $2::bigint AND t.recorded_at >= $1::date::timestamptz
      AND t.recorded_at < $3::timestamptz AND t.effective_at < $4::timestamptz GROUP BY 1) AS since
    ON since.ledger_account_id = a.id
  LEFT JOIN (SELECT e.ledger_account_id, sum(e.amount) AS amount
    FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
    WHERE t.recorded_at < $1::date::timestamptz AND t.effective_at >= $4::timestamptz GROUP BY 1) AS beyond
    ON beyond.ledger_account_id = a.id
  WHERE num_nonnulls(stored.balance, since.amount, beyond.amount) > 0 ORDER BY a.code COLLATE "C"`;

/**
 * From the newest snapshot that is not after either time: plus what was recorded since and counts, less what it contains
 * and does not count, because its effective time is later.
 */
async function balancesQuery(client: pg.ClientBase, cut: Cut): Promise<{ sql: string; values: string[] }> {
  const { rows: days } = await client.query<{ day: string; firstId: string }>(
    `SELECT day::text, first_id::text AS "firstId" FROM ledger_snapshot_days
     WHERE day <= $1::timestamptz AND day <= $2::timestamptz ORDER BY day DESC LIMIT 1`,
    [cut.recordedBefore, cut.effectiveBefore],
  );
  const { day, firstId } = days[0] ?? { day: '-infinity', firstId: '0' };
  return {
    sql: BALANCES,
    values: [day, firstId, cut.recordedBefore, cut.effectiveBefore],
  };
}

type BalanceRow = Omit<LedgerBalance, 'balance' | 'ledgerAccountId'> &
  Record<'balance' | 'ledgerAccountId', string>;

function balanceOf(row: BalanceRow): LedgerBalance {
  return { ...row, ledgerAccountId: BigInt(row.ledgerAccountId), balance: BigInt(row.balance) };
}
