import type pg from 'pg';
import type { PostingKind } from '../postings/posting-kinds.js';
import { atHorizon, type Horizon } from '../postings/horizon.js';
import { balanceBefore, effectiveBalanceBefore } from '../postings/account-balance.js';
import type { Commodity, LedgerKind, TimeOf } from './trial-balance.js';

export interface LedgerAccount {
  id: bigint;
  code: string;
  kind: LedgerKind;
  commodity: Commodity;
  /** The customer's account, for ledger accounts of customers. */
  accountId: string | null;
}

export interface LedgerLine {
  transactionId: bigint;
  ordinal: number;
  recordedAt: string;
  effectiveAt: string;
  kind: PostingKind;
  reference: string;
  chargeId: string | null;
  /** Positive is a credit; units of the commodity. */
  amount: bigint;
  /** The balance of the account in this statement after the line. */
  balance: bigint;
}

/** Where a page ended. The next one begins after it, on the same books. */
export interface LedgerCursor {
  transactionId: bigint;
  ordinal: number;
  balance: bigint;
  /** As returned with the first page. */
  to: string;
  recordedBefore: string;
  /** Of the last line. */
  effectiveAt: string;
}

export interface LedgerStatementQuery {
  /** The time of postings that counts. Default: recorded. */
  by?: TimeOf;
  /** By effective time: only what was recorded before this time, as the books were known then. Text or Date. */
  recordedBefore?: string | Date | null;
  /** Postings from (inclusive) to (exclusive). Null means from the beginning, or up to the horizon. */
  from: Date | null;
  to: Date | null;
  limit: number;
  after: LedgerCursor | null;
}

export interface LedgerStatement {
  account: LedgerAccount;
  by: TimeOf;
  /** By effective time: recorded before this time. Repeating the query with it always returns the same answer. */
  recordedBefore: string;
  from: string | null;
  /**
   * By recorded time not later than the horizon, so the statement stays true. By effective time as it was asked for: what comes
   * later may be from before, and it is `recordedBefore` that keeps the statement true.
   */
  to: string;
  opening: bigint;
  closing: bigint;
  /** In ledger order or, by effective time, in the order in which things happened. */
  lines: LedgerLine[];
  next: LedgerCursor | null;
}

/** The entries of a ledger account within a time, with opening and closing balance. Null if there is no such ledger account. */
export function ledgerAccountStatement(
  pool: pg.Pool,
  ledgerAccountId: bigint,
  query: LedgerStatementQuery,
): Promise<LedgerStatement | null> {
  const work = (client: pg.ClientBase, horizon: Horizon) =>
    readStatement(client, horizon, { ...query, ledgerAccountId });
  const known = query.by === 'effective' ? query.recordedBefore : query.to;
  return atHorizon(pool, work, query.after?.recordedBefore ?? known);
}

async function readStatement(
  client: pg.ClientBase,
  horizon: Horizon,
  query: LedgerStatementQuery & { ledgerAccountId: bigint },
): Promise<LedgerStatement | null> {
  const account = await findLedgerAccount(client, query.ledgerAccountId);
  if (!account) return null;
  await client.query(ONE_PROCESS);
  const { limit, after, by = 'recorded' } = query;
  const times = await timesOf(client, horizon, query);
  const { from, to, recordedBefore } = times;
  const balanceAt = (at: string): Promise<bigint> =>
    by === 'recorded'
      ? balanceBefore(client, account.id, at)
      : effectiveBalanceBefore(client, account.id, { effectiveBefore: at, recordedBefore });
  const [opening, closing] = [await balanceAt(from), await balanceAt(to)];
  const asked = { ...times, ledgerAccountId: account.id, limit, after };
  const found = by === 'recorded' ? await readLines(client, asked) : await readEffectiveLines(client, asked);
  const lines = withBalances(found.slice(0, limit), after?.balance ?? opening);
  const last = lines.at(-1);
  return {
    account,
    by,
    recordedBefore,
    opening,
    closing,
    lines,
    to,
    from: query.from && from,
    next: found.length > limit && last ? cursorAt(last, times) : null,
  };
}

function cursorAt({ transactionId, ordinal, balance, effectiveAt }: LedgerLine, times: Times): LedgerCursor {
  const { to, recordedBefore } = times;
  return { transactionId, ordinal, balance, effectiveAt, to, recordedBefore };
}

interface Times {
  from: string;
  to: string;
  recordedBefore: string;
}

/** By recorded time, everything recorded before the end counts, as far as the ledger is final. */
async function timesOf(
  client: pg.ClientBase,
  horizon: Horizon,
  { by, from, to, recordedBefore, after }: LedgerStatementQuery,
): Promise<Times> {
  const isRecorded = by !== 'effective';
  const known = after?.recordedBefore ?? (isRecorded ? to : recordedBefore);
  const { rows } = await client.query<Times>(
    `SELECT least($1::timestamptz, to_at)::text AS "from", to_at::text AS "to", known::text AS "recordedBefore"
     FROM (SELECT known, CASE WHEN $4 THEN known ELSE coalesce($2::timestamptz, known) END AS to_at
       FROM (SELECT least($3::timestamptz, $5::timestamptz) AS known) AS cut) AS times`,
    [from ?? '-infinity', after?.to ?? to, known ?? 'infinity', isRecorded, horizon.at],
  );
  return rows[0] as Times;
}

export async function findLedgerAccount(
  client: pg.ClientBase | pg.Pool,
  id: bigint,
): Promise<LedgerAccount | null> {
  const { rows } = await client.query<LedgerAccount>(
    `SELECT id, code, kind, commodity, account_id AS "accountId" FROM ledger_accounts WHERE id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * For a client whose transaction reads the entries of one account: parallel workers would take longer to start than the work.
 */
const ONE_PROCESS = 'SET LOCAL max_parallel_workers_per_gather = 0';

type Row = Omit<LedgerLine, 'balance'>;

interface LinesQuery extends Times {
  ledgerAccountId: bigint;
  limit: number;
  after: LedgerCursor | null;
}

async function readLines(client: pg.ClientBase, query: LinesQuery): Promise<Row[]> {
  // In index order, so that a page ends after its lines: a busy account has many more in the same hour.
  await client.query('SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off');
  const { rows } = await client.query<Row>(
    `SELECT e.transaction_id AS "transactionId", e.ordinal, t.recorded_at::text AS "recordedAt",
       t.effective_at::text AS "effectiveAt", t.kind, t.reference, t.charge_id AS "chargeId", e.amount
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

async function readEffectiveLines(client: pg.ClientBase, query: LinesQuery): Promise<Row[]> {
  const { ledgerAccountId, from, to, recordedBefore, limit, after } = query;
  const { rows } = await client.query<Row>(
    `SELECT e.transaction_id AS "transactionId", e.ordinal, t.recorded_at::text AS "recordedAt",
       t.effective_at::text AS "effectiveAt", t.kind, t.reference, t.charge_id AS "chargeId", e.amount
     FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
     WHERE e.ledger_account_id = $1 AND t.effective_at >= greatest($2::timestamptz, $5::timestamptz)
       AND t.effective_at < $3::timestamptz AND t.recorded_at < $4::timestamptz
       AND (t.effective_at, e.transaction_id, e.ordinal) > ($5::timestamptz, $6::bigint, $7::int)
     ORDER BY t.effective_at, e.transaction_id, e.ordinal LIMIT $8`,
    [
      ledgerAccountId,
      from,
      to,
      recordedBefore,
      after?.effectiveAt ?? '-infinity',
      after?.transactionId ?? -1n,
      after?.ordinal ?? -1,
      limit + 1,
    ],
  );
  return rows;
}

function withBalances(rows: readonly Row[], before: bigint): LedgerLine[] {
  let balance = before;
  return rows.map((row) => {
    balance += row.amount;
    return { ...row, balance };
  });
}

/** Ledger accounts by code; a page begins after a code. */
export async function listLedgerAccounts(
  pool: pg.Pool,
  query: { limit: number; after: string | null; codePrefix: string | null },
): Promise<LedgerAccount[]> {
  const { rows } = await pool.query<LedgerAccount>(
    `SELECT id, code, kind, commodity, account_id AS "accountId" FROM ledger_accounts
     WHERE ($1::text IS NULL OR code > $1) AND ($2::text IS NULL OR starts_with(code, $2)) ORDER BY code LIMIT $3`,
    [query.after, query.codePrefix, query.limit],
  );
  return rows;
}
