import type pg from 'pg';
import { atHorizon, type Horizon } from './horizon.js';
import type { Commodity, LedgerKind } from './trial-balance.js';

/** As SQL: beyond every id. */
const LARGEST = (2n ** 62n).toString();

export interface LedgerAccount {
  id: bigint;
  code: string;
  kind: LedgerKind;
  commodity: Commodity;
  /** The customer's account, of theirs. */
  accountId: string | null;
}

export interface LedgerLine {
  transactionId: bigint;
  ordinal: number;
  recordedAt: string;
  effectiveAt: string;
  kind: string;
  reference: string;
  chargeId: string | null;
  /** Positive is a credit; units of the commodity. */
  amount: bigint;
  /** Of the account in this statement, after the line. */
  balance: bigint;
}

/** Where a page ended; the next begins after it, on the same books. */
export interface LedgerCursor {
  transactionId: bigint;
  ordinal: number;
  balance: bigint;
  /** As the first page answered it. */
  to: string;
}

export interface LedgerStatementQuery {
  /** Postings recorded in this time, from inclusive, to exclusive; null: from the beginning, and up to the horizon. */
  from: Date | null;
  to: Date | null;
  limit: number;
  after: LedgerCursor | null;
}

export interface LedgerStatement {
  account: LedgerAccount;
  from: string | null;
  /** Not later than the horizon, so the statement stays true. */
  to: string;
  opening: bigint;
  closing: bigint;
  /** In the order of the ledger. */
  lines: LedgerLine[];
  next: LedgerCursor | null;
}

/** The entries of one ledger account in a time, with the balances around them. Null: there is no such ledger account. */
export function ledgerAccountStatement(
  pool: pg.Pool,
  ledgerAccountId: bigint,
  query: LedgerStatementQuery,
): Promise<LedgerStatement | null> {
  const work = (client: pg.ClientBase, horizon: Horizon) =>
    readStatement(client, horizon, { ...query, ledgerAccountId });
  return atHorizon(pool, work, query.after?.to ?? query.to);
}

async function readStatement(
  client: pg.ClientBase,
  horizon: Horizon,
  query: LedgerStatementQuery & { ledgerAccountId: bigint },
): Promise<LedgerStatement | null> {
  const account = await findLedgerAccount(client, query.ledgerAccountId);
  if (!account) return null;
  await client.query(ONE_PROCESS);
  const { rows } = await client.query<{ from: string; to: string }>(
    `SELECT least($1::timestamptz, to_at)::text AS "from", to_at::text AS "to"
     FROM (SELECT least($2::timestamptz, $3::timestamptz) AS to_at) AS times`,
    [query.from ?? '-infinity', query.after?.to ?? query.to ?? 'infinity', horizon.at],
  );
  const { from, to } = rows[0] as { from: string; to: string };
  const [opening, closing] = [
    await balanceBefore(client, account.id, from),
    await balanceBefore(client, account.id, to),
  ];
  const found = await readLines(client, { ...query, from, to });
  const lines = withBalances(found.slice(0, query.limit), query.after?.balance ?? opening);
  const last = lines.at(-1);
  const next = found.length > query.limit && last ? { ...last, to } : null;
  return {
    ...{ account, opening, closing, lines, to },
    from: query.from && from,
    next: next && {
      transactionId: next.transactionId,
      ordinal: next.ordinal,
      balance: next.balance,
      to,
    },
  };
}

export async function findLedgerAccount(
  client: pg.ClientBase | pg.Pool,
  id: bigint,
): Promise<LedgerAccount | null> {
  const { rows } = await client.query<Omit<LedgerAccount, 'id'> & { id: string }>(
    `SELECT id::text, code, kind, commodity, account_id AS "accountId" FROM ledger_accounts WHERE id = $1`,
    [id],
  );
  const row = rows[0];
  return row ? { ...row, id: BigInt(row.id) } : null;
}

/** Of a client whose transaction reads the entries of one account: workers take longer to start than the work takes. */
const ONE_PROCESS = 'SET LOCAL max_parallel_workers_per_gather = 0';

/**
 * The balance of one ledger account from everything recorded before a time: of the newest day before that is stored, of the
 * hours of an account of the house since, and of its entries since. Only at the ends of that time may ids and times be in
 * another order, so only there the times of entries are looked up.
 */
export async function balanceBefore(
  client: pg.ClientBase,
  ledgerAccountId: bigint,
  before: string,
): Promise<bigint> {
  const { rows } = await client.query<{ balance: string }>(
    `WITH base AS MATERIALIZED (
       SELECT coalesce(max(day)::timestamptz, '-infinity') AS at, coalesce(max(first_id), 0) AS first_id,
         coalesce(max(last_id), ${LARGEST}) AS last_id FROM ledger_snapshot_days WHERE day <= $2::timestamptz),
     hour AS MATERIALIZED (
       SELECT h.at, h.first_id, h.last_id FROM ledger_hours h
       WHERE h.at >= (SELECT at FROM base) AND h.at <= $2::timestamptz ORDER BY h.at DESC LIMIT 1),
     start AS MATERIALIZED (
       SELECT * FROM hour WHERE (SELECT account_id IS NULL FROM ledger_accounts WHERE id = $1)
       UNION ALL SELECT * FROM base LIMIT 1),
     ids AS MATERIALIZED (
       SELECT start.at, start.first_id AS first, start.last_id AS in_between,
         greatest(start.last_id + 1, coalesce((SELECT first_id FROM hour), start.first_id)) AS last,
         coalesce((SELECT last_id FROM ledger_hours WHERE at >= $2::timestamptz ORDER BY at LIMIT 1), ${LARGEST}) AS bound
       FROM start),
     stored AS (
       SELECT balance FROM ledger_balance_snapshots WHERE ledger_account_id = $1 AND day <= (SELECT at FROM base)
       ORDER BY day DESC LIMIT 1),
     hours AS (
       SELECT sum(amount) AS amount FROM ledger_hour_movements
       WHERE ledger_account_id = $1 AND at > (SELECT at FROM base) AND at <= (SELECT at FROM ids)),
     within AS (
       SELECT sum(amount) AS amount FROM ledger_entries
       WHERE ledger_account_id = $1 AND transaction_id > (SELECT in_between FROM ids) AND transaction_id < (SELECT last FROM ids)),
     ends AS (
       SELECT sum(e.amount) AS amount FROM (
           SELECT transaction_id, amount FROM ledger_entries WHERE ledger_account_id = $1
             AND transaction_id >= (SELECT first FROM ids) AND transaction_id <= (SELECT least(in_between, bound) FROM ids)
           UNION ALL SELECT transaction_id, amount FROM ledger_entries WHERE ledger_account_id = $1
             AND transaction_id >= (SELECT last FROM ids) AND transaction_id <= (SELECT bound FROM ids)) AS e
       JOIN ledger_transactions t ON t.id = e.transaction_id
       WHERE t.recorded_at >= (SELECT at FROM ids) AND t.recorded_at < $2::timestamptz)
     SELECT (coalesce((SELECT balance FROM stored), 0) + coalesce((SELECT amount FROM hours), 0)
       + coalesce((SELECT amount FROM within), 0) + coalesce((SELECT amount FROM ends), 0))::text AS balance`,
    [ledgerAccountId, before],
  );
  return BigInt(rows[0]?.balance ?? 0);
}

type Row = Omit<LedgerLine, 'transactionId' | 'amount' | 'balance'> & {
  transactionId: string;
  amount: string;
};

async function readLines(
  client: pg.ClientBase,
  query: { ledgerAccountId: bigint; from: string; to: string; limit: number; after: LedgerCursor | null },
): Promise<Row[]> {
  // In the order of the index, so that a page ends after its lines: a busy account has many more of the same hour.
  await client.query('SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off');
  const { rows } = await client.query<Row>(
    `SELECT e.transaction_id::text AS "transactionId", e.ordinal, t.recorded_at::text AS "recordedAt",
       t.effective_at::text AS "effectiveAt", t.kind, t.reference, t.charge_id AS "chargeId", e.amount::text
     FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
     WHERE e.ledger_account_id = $1 AND (e.transaction_id, e.ordinal) > ($4::bigint, $5::int)
       AND e.transaction_id >= coalesce((SELECT first_id FROM ledger_hours WHERE at <= $2::timestamptz ORDER BY at DESC LIMIT 1), 0)
       AND e.transaction_id <= coalesce((SELECT last_id FROM ledger_hours WHERE at >= $3::timestamptz ORDER BY at LIMIT 1),
         9223372036854775807)
       AND t.recorded_at >= $2::timestamptz AND t.recorded_at < $3::timestamptz
     ORDER BY e.transaction_id, e.ordinal LIMIT $6`,
    [
      query.ledgerAccountId,
      query.from,
      query.to,
      query.after?.transactionId ?? -1n,
      query.after?.ordinal ?? -1,
      query.limit + 1,
    ],
  );
  return rows;
}

function withBalances(rows: readonly Row[], before: bigint): LedgerLine[] {
  let balance = before;
  return rows.map((row) => {
    const amount = BigInt(row.amount);
    balance += amount;
    return { ...row, transactionId: BigInt(row.transactionId), amount, balance };
  });
}

/** Ledger accounts by code; a page begins after a code. */
export async function listLedgerAccounts(
  pool: pg.Pool,
  query: { limit: number; after: string | null; codePrefix: string | null },
): Promise<LedgerAccount[]> {
  const { rows } = await pool.query<Omit<LedgerAccount, 'id'> & { id: bigint | string }>(
    `SELECT id, code, kind, commodity, account_id AS "accountId" FROM ledger_accounts
     WHERE ($1::text IS NULL OR code > $1) AND ($2::text IS NULL OR starts_with(code, $2)) ORDER BY code LIMIT $3`,
    [query.after, query.codePrefix, query.limit],
  );
  return rows.map((row) => ({ ...row, id: BigInt(row.id) }));
}
