import type pg from 'pg';
import { type CopiedRows, copyOut } from '#database/copy-out.js';
import type { Family } from '#pricing/price-book.js';
import { dayOf, type LotPurpose } from './lot-player.js';
import type { LockedAccount } from '../postings/posting.js';

/** What main and held of an account moved by in one transaction, or in a row of settlements. */
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

/** The transactions of one account after an id. */
export interface AccountScope {
  readonly account: LockedAccount;
  readonly after: bigint;
}

/** The transactions of all accounts after an id and up to another, below the horizon. */
export interface RangeScope {
  readonly after: bigint;
  readonly through: bigint;
}

/** ISO 8601 in UTC, to the microsecond, as SQL: such texts are in the order of their times. */
export function isoText(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

type MoveRow = Omit<Move, 'firstId' | 'id' | 'net' | 'linkedId'> &
  Record<'firstId' | 'id' | 'net', string> & { linkedId: string | null };

function moveOf(row: MoveRow): Move {
  return {
    ...row,
    firstId: BigInt(row.firstId),
    id: BigInt(row.id),
    net: BigInt(row.net),
    linkedId: row.linkedId === null ? null : BigInt(row.linkedId),
  };
}

/**
 * A settlement takes from main and held together what it books as usage. Everything else is rare, and is told by what it
 * moved on both. $1: main and held; $2: after which transaction; $3: whether settlements are told one by one; $4 and $5: the
 * accounts of usage.
 */
const OF_ACCOUNT = `
  WITH scope AS MATERIALIZED (
    SELECT t.id, t.kind, t.charge_id, t.linked_id, t.effective_at, e.net FROM (
      SELECT transaction_id, sum(amount)::bigint AS net FROM ledger_entries
      WHERE ledger_account_id = ANY ($1::bigint[]) AND transaction_id > $2 GROUP BY 1) AS e
    CROSS JOIN LATERAL (SELECT * FROM ledger_transactions t WHERE t.id = e.transaction_id OFFSET 0) AS t
    WHERE t.kind NOT IN ('hold', 'release')),
  told AS (
    SELECT s.id, s.kind, u.family AS purpose, -e.amount AS net, s.effective_at, (s.effective_at AT TIME ZONE 'UTC')::date AS day,
      NULL AS charge_id, NULL::bigint AS linked_id
    FROM scope s CROSS JOIN LATERAL (SELECT * FROM ledger_entries e WHERE e.transaction_id = s.id OFFSET 0) AS e
    JOIN unnest($4::bigint[], $5::text[]) AS u (id, family) ON u.id = e.ledger_account_id
    WHERE s.kind = 'settle'
    UNION ALL SELECT id, kind, NULL, net, effective_at, NULL, charge_id, linked_id FROM scope WHERE kind <> 'settle'),
  marked AS (
    SELECT *, $3 OR kind <> 'settle' OR purpose IS DISTINCT FROM lag(purpose) OVER w
      OR day IS DISTINCT FROM lag(day) OVER w AS begins
    FROM told WINDOW w AS (ORDER BY id)),
  numbered AS (
    SELECT *, count(*) FILTER (WHERE begins) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS run FROM marked)
  SELECT min(id)::text AS "firstId", max(id)::text AS id, count(*)::int AS count, min(kind) AS kind, min(purpose) AS purpose,
    sum(net)::text AS net, min(charge_id) AS "chargeId", min(linked_id)::text AS "linkedId",
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
  const { rows } = await client.query<Omit<MoveRow, 'accountId'>>(OF_ACCOUNT, [
    [ledgerIds.main, ledgerIds.held],
    after,
    isOneByOne,
    [...usage.keys()],
    [...usage.values()],
  ]);
  return rows.map((row) => moveOf({ ...row, accountId }));
}

const USAGE = {
  'usage:image': 'image',
  'usage:video': 'video',
  'usage:chat': 'chat',
  'usage:speech': 'speech',
  'usage:3d': '3d',
} satisfies { [F in Family as `usage:${F}`]: F };

/** The ledger accounts of usage, by id. */
async function usageAccounts(client: pg.ClientBase): Promise<Map<string, Family>> {
  const { rows } = await client.query<{ id: string; code: keyof typeof USAGE }>(
    'SELECT id::text, code FROM ledger_accounts WHERE code = ANY ($1)',
    [Object.keys(USAGE)],
  );
  return new Map(rows.map(({ id, code }) => [id, USAGE[code]]));
}

/** What is rare, one by one. */
const OTHERS = `
  WITH scope AS MATERIALIZED (
    SELECT id, kind, charge_id, linked_id, effective_at FROM ledger_transactions
    WHERE id > $1 AND id <= $2 AND kind NOT IN ('hold', 'release', 'settle', 'recognition'))
  SELECT a.account_id AS "accountId", s.id::text, s.id::text AS "firstId", 1 AS count, s.kind, NULL AS purpose,
    sum(e.amount)::text AS net, s.charge_id AS "chargeId", s.linked_id::text AS "linkedId",
    ${isoText('least(s.effective_at, clock_timestamp())')} AS "effectiveAt"
  FROM scope s CROSS JOIN LATERAL (SELECT * FROM ledger_entries e WHERE e.transaction_id = s.id OFFSET 0) AS e
  CROSS JOIN LATERAL (SELECT a.account_id FROM ledger_accounts a WHERE a.id = e.ledger_account_id
    AND a.account_id IS NOT NULL AND a.code ~ ':(main|held)$' OFFSET 0) AS a
  GROUP BY a.account_id, s.id, s.kind, s.effective_at, s.charge_id, s.linked_id ORDER BY s.id`;

/**
 * Makes the plans of a range follow from its ids alone: a ledger that grew fast has no statistics yet, and a plan that reads
 * it whole takes minutes. For the client's transaction, which may take its time.
 */
export async function steadyPlans(client: pg.ClientBase): Promise<void> {
  await client.query(
    `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off;
     SET LOCAL enable_mergejoin = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off;
     SET LOCAL statement_timeout = '10min'`,
  );
}

/** One settlement, or a part of it of another family. */
interface Settled {
  id: number;
  purpose: Family;
  amount: bigint;
  /** As PostgreSQL writes it in UTC. */
  effectiveAt: string;
}

/** What the transactions of a range did to main and held of all accounts: read once, told as often as needed. */
export class RangeMoves {
  private constructor(
    readonly scope: RangeScope,
    private readonly settled: ReadonlyMap<string, readonly Settled[]>,
    private readonly others: ReadonlyMap<string, readonly Move[]>,
    private readonly now: string,
  ) {}

  /**
   * Settlements, which are nearly everything, are copied out by the ranges of two primary keys and put together here; what
   * the cursor of an account is past is left out, and so are accounts that are stuck. The client's transaction is a
   * report's, with `steadyPlans`.
   */
  static async read(client: pg.ClientBase, scope: RangeScope): Promise<RangeMoves> {
    const { after, through } = scope;
    const usage = await usageAccounts(client);
    const range = (id: string) => `${id} > ${after} AND ${id} <= ${through}`;
    const transactions = await copyOut(
      client,
      `SELECT id, account_id, effective_at FROM ledger_transactions WHERE ${range('id')} AND kind = 'settle' ORDER BY id`,
    );
    const entries = await copyOut(
      client,
      `SELECT transaction_id, ledger_account_id, -amount FROM ledger_entries WHERE ${range('transaction_id')}
         AND ledger_account_id IN (${[...usage.keys(), 0].join()}) ORDER BY transaction_id, ordinal`,
    );
    const settled = settlements(transactions, entries, usage);
    const others = new Map<string, Move[]>();
    const { rows } = await client.query<MoveRow>(OTHERS, [after, through]);
    for (const row of rows) listOf(others, row.accountId).push(moveOf(row));
    await leaveOutPast(client, settled, others);
    const { rows: clock } = await client.query<{ now: string }>(`SELECT clock_timestamp()::text AS now`);
    return new RangeMoves(scope, settled, others, isoOf(clock[0]?.now ?? ''));
  }

  /** By account, in ledger order. @param oneByOne the only accounts to tell of, each settlement by itself */
  moves(oneByOne: readonly string[] | null): Move[] {
    const accountIds = oneByOne ?? [...new Set([...this.settled.keys(), ...this.others.keys()])].sort();
    return accountIds.flatMap((accountId) => this.movesOf(accountId, oneByOne !== null));
  }

  private movesOf(accountId: string, isOneByOne: boolean): Move[] {
    const others = this.others.get(accountId) ?? [];
    const moves: Move[] = [];
    let next = 0;
    let row: { move: Move; last: Settled } | null = null;
    for (const settled of this.settled.get(accountId) ?? []) {
      for (let other = others[next]; other && other.id < settled.id; other = others[(next += 1)]) {
        moves.push(other);
        row = null;
      }
      if (row && !isOneByOne && followsOn(row.last, settled)) extend(row, settled);
      else moves.push((row = { move: this.begin(accountId, settled), last: settled }).move);
    }
    moves.push(...others.slice(next));
    for (const move of moves) if (move.effectiveAt > this.now) move.effectiveAt = this.now;
    return moves;
  }

  private begin(accountId: string, { id, purpose, amount, effectiveAt }: Settled): Move {
    return {
      accountId,
      firstId: BigInt(id),
      id: BigInt(id),
      count: 1,
      kind: 'settle',
      purpose,
      net: amount,
      chargeId: null,
      linkedId: null,
      effectiveAt: isoOf(effectiveAt),
    };
  }
}

function followsOn(last: Settled, next: Settled): boolean {
  return last.purpose === next.purpose && dayOf(last.effectiveAt) === dayOf(next.effectiveAt);
}

function extend(row: { move: Move; last: Settled }, settled: Settled): void {
  const { move } = row;
  move.id = BigInt(settled.id);
  move.count += 1;
  move.net += settled.amount;
  const effectiveAt = isoOf(settled.effectiveAt);
  if (effectiveAt > move.effectiveAt) move.effectiveAt = effectiveAt;
  row.last = settled;
}

/** `2026-01-31 10:00:00.5+00` as ISO 8601 to the microsecond. */
function isoOf(text: string): string {
  const [date = '', time = ''] = text.split(' ');
  const [seconds = '', micros = ''] = time.replace(/\+00$/, '').split('.');
  return `${date}T${seconds}.${micros.padEnd(6, '0')}Z`;
}

/** Both copies come in the order of ids; what is booked as usage by other transactions is passed over. */
function settlements(
  transactions: CopiedRows,
  entries: CopiedRows,
  usage: ReadonlyMap<string, Family>,
): Map<string, Settled[]> {
  const settled = new Map<string, Settled[]>();
  let at = 0;
  let own = cellsOf(transactions, at);
  for (let row = 0; row < entries.ends.length; row += 1) {
    const [transactionId = '', ledgerId = '', amount = ''] = cellsOf(entries, row) ?? [];
    const id = Number(transactionId);
    while (own && Number(own[0]) < id) own = cellsOf(transactions, (at += 1));
    const purpose = usage.get(ledgerId);
    if (!own || Number(own[0]) !== id || !purpose) continue;
    const [, accountId = '', effectiveAt = ''] = own;
    listOf(settled, accountId).push({ id, purpose, amount: BigInt(amount), effectiveAt });
  }
  return settled;
}

/** The cells of a row of ids, numbers and times, none of which needs a backslash. */
function cellsOf({ bytes, ends }: CopiedRows, row: number): string[] | undefined {
  const end = ends[row];
  if (end === undefined) return undefined;
  return bytes.toString('latin1', row === 0 ? 0 : ends[row - 1], end - 1).split('\t');
}

async function leaveOutPast(
  client: pg.ClientBase,
  settled: Map<string, Settled[]>,
  others: Map<string, Move[]>,
): Promise<void> {
  const { rows } = await client.query<{ accountId: string; throughId: string; isStuck: boolean }>(
    `SELECT account_id AS "accountId", through_id::text AS "throughId", stuck IS NOT NULL AS "isStuck" FROM lot_cursors
     WHERE account_id = ANY ($1)`,
    [[...new Set([...settled.keys(), ...others.keys()])]],
  );
  for (const { accountId, throughId, isStuck } of rows) {
    keepAfter(settled, accountId, isStuck ? null : BigInt(throughId));
    keepAfter(others, accountId, isStuck ? null : BigInt(throughId));
  }
}

/** Null: nothing is kept. */
function keepAfter<T extends { id: number | bigint }>(
  map: Map<string, T[]>,
  accountId: string,
  throughId: bigint | null,
): void {
  const all = map.get(accountId) ?? [];
  const kept = throughId === null ? [] : all.filter(({ id }) => id > throughId);
  if (kept.length === 0) map.delete(accountId);
  else map.set(accountId, kept);
}

function listOf<K, V>(map: Map<K, V[]>, key: K): V[] {
  let list = map.get(key);
  if (!list) map.set(key, (list = []));
  return list;
}
