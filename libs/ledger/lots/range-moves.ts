import { setImmediate as othersTurn } from 'node:timers/promises';
import type pg from 'pg';
import { type CopiedRows, copyOut } from '#database/copy-out.js';
import { limitStatements } from '#database/pooled-client.js';
import type { Family } from '#pricing/price-book.js';
import { listOf } from './list-of.js';
import { dayOf } from './lot.js';
import { isoText, type Move, usageAccounts } from './lot-moves.js';

/** The transactions of all accounts after one ID and up to another, below the horizon. */
interface RangeScope {
  readonly after: bigint;
  readonly through: bigint;
}

/** Rare transactions, one by one. */
const OTHERS = `
  WITH scope AS MATERIALIZED (
    SELECT id, kind, charge_id, linked_id, effective_at FROM ledger_transactions
    WHERE id > $1 AND id <= $2 AND kind NOT IN ('hold', 'release', 'settle', 'recognition'))
  SELECT a.account_id AS "accountId", s.id, s.id AS "firstId", 1 AS count, s.kind, NULL AS purpose,
    sum(e.amount)::bigint AS net, s.charge_id AS "chargeId", s.linked_id AS "linkedId",
    ${isoText('least(s.effective_at, clock_timestamp())')} AS "effectiveAt"
  FROM scope s CROSS JOIN LATERAL (SELECT * FROM ledger_entries e WHERE e.transaction_id = s.id OFFSET 0) AS e
  CROSS JOIN LATERAL (SELECT a.account_id FROM ledger_accounts a WHERE a.id = e.ledger_account_id
    AND a.account_id IS NOT NULL AND a.code ~ ':(main|held)$' OFFSET 0) AS a
  GROUP BY a.account_id, s.id, s.kind, s.effective_at, s.charge_id, s.linked_id ORDER BY s.id`;

const LONGEST_MS = 10 * 60_000;

/**
 * Makes plans for a range depend only on its IDs: a ledger that grew fast has no statistics yet, and a plan that reads all of
 * it takes minutes. For the client's transaction, which is allowed to take long, also between its statements.
 */
export async function steadyPlans(client: pg.ClientBase): Promise<void> {
  await client.query(
    `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off;
     SET LOCAL enable_mergejoin = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off`,
  );
  await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${LONGEST_MS}`);
  await limitStatements(client, LONGEST_MS);
}

/** After this many settlements, whatever else waits in the process gets a turn: a millisecond of work at most. */
const TURN_SETTLEMENTS = 100;

/** One settlement, or a part of it of another family. */
interface Settled {
  id: number;
  purpose: Family;
  amount: bigint;
  /** As PostgreSQL text in UTC. */
  effectiveAt: string;
}

/** What settlements and everything else did, by account, when it was read. */
interface FoundMoves {
  readonly scope: RangeScope;
  readonly settled: ReadonlyMap<string, readonly Settled[]>;
  readonly others: ReadonlyMap<string, readonly Move[]>;
  readonly now: string;
}

/**
 * The effect of a range of transactions on the main and held balances of all accounts: read once, listed as often as needed.
 */
export class RangeMoves {
  /** Settlements of all accounts so far. */
  private listed = 0;

  private constructor(private readonly found: FoundMoves) {}

  get scope(): RangeScope {
    return this.found.scope;
  }

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
    const settled = await settlements(transactions, entries, usage);
    const others = new Map<string, Move[]>();
    const { rows } = await client.query<Move>(OTHERS, [after, through]);
    for (const row of rows) listOf(others, row.accountId).push(row);
    await leaveOutPast(client, settled, others);
    const { rows: clock } = await client.query<{ now: string }>(`SELECT clock_timestamp()::text AS now`);
    return new RangeMoves({ scope, settled, others, now: isoOf(clock[0]?.now ?? '') });
  }

  /** By account, in ledger order. @param oneByOne the only accounts to list, each settlement by itself */
  async moves(oneByOne: readonly string[] | null): Promise<Move[]> {
    const { settled, others, now } = this.found;
    const accountIds = oneByOne ?? [...new Set([...settled.keys(), ...others.keys()])].sort();
    const moves: Move[] = [];
    for (const accountId of accountIds)
      for (const move of await this.movesOf(accountId, oneByOne !== null)) moves.push(move);
    for (const move of moves) if (move.effectiveAt > now) move.effectiveAt = now;
    return moves;
  }

  private async movesOf(accountId: string, isOneByOne: boolean): Promise<Move[]> {
    const others = this.found.others.get(accountId) ?? [];
    const settled = this.found.settled.get(accountId) ?? [];
    const moves: Move[] = [];
    const joined = new Set<SettledRow>();
    let next = 0;
    let row: SettledRow | null = null;
    for (const each of settled) {
      if ((this.listed += 1) % TURN_SETTLEMENTS === 0) await othersTurn();
      for (let other = others[next]; other && other.id < each.id; other = others[(next += 1)]) {
        moves.push(other);
        row = null;
      }
      if (row && !isOneByOne && followsOn(row.last, each)) joined.add(extend(row, each));
      else moves.push((row = beginRow(accountId, each)).move);
    }
    moves.push(...others.slice(next));
    for (const { move, latest } of joined) move.effectiveAt = isoOf(latest);
    return moves;
  }
}

/** Settlements that follow each other, as one move. */
interface SettledRow {
  readonly move: Move;
  last: Settled;
  /** The latest effective time, as PostgreSQL text in UTC, which sorts like the times. */
  latest: string;
}

function beginRow(accountId: string, settled: Settled): SettledRow {
  const { id, purpose, amount, effectiveAt } = settled;
  const move: Move = {
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
  return { move, last: settled, latest: effectiveAt };
}

function followsOn(last: Settled, next: Settled): boolean {
  return last.purpose === next.purpose && dayOf(last.effectiveAt) === dayOf(next.effectiveAt);
}

function extend(row: SettledRow, settled: Settled): SettledRow {
  const { move } = row;
  move.id = BigInt(settled.id);
  move.count += 1;
  move.net += settled.amount;
  if (settled.effectiveAt > row.latest) row.latest = settled.effectiveAt;
  row.last = settled;
  return row;
}

/** `2026-01-31 10:00:00.5+00` as ISO 8601 to the microsecond. */
function isoOf(text: string): string {
  const [date = '', time = ''] = text.split(' ');
  const [seconds = '', micros = ''] = time.replace(/\+00$/, '').split('.');
  return `${date}T${seconds}.${micros.padEnd(6, '0')}Z`;
}

/** Both copies come in order of ID. Usage booked by other transactions is skipped. */
async function settlements(
  transactions: CopiedRows,
  entries: CopiedRows,
  usage: ReadonlyMap<string, Family>,
): Promise<Map<string, Settled[]>> {
  const settled = new Map<string, Settled[]>();
  let at = 0;
  let own = cellsOf(transactions, at);
  for (let row = 0; row < entries.ends.length; row += 1) {
    if (row % TURN_SETTLEMENTS === 0) await othersTurn();
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
  const { rows } = await client.query<{ accountId: string; throughId: bigint; isStuck: boolean }>(
    `SELECT account_id AS "accountId", through_id AS "throughId", stuck IS NOT NULL AS "isStuck" FROM lot_cursors
     WHERE account_id = ANY ($1)`,
    [[...new Set([...settled.keys(), ...others.keys()])]],
  );
  for (const { accountId, throughId, isStuck } of rows) {
    keepAfter(settled, accountId, isStuck ? null : throughId);
    keepAfter(others, accountId, isStuck ? null : throughId);
  }
}

/** Null keeps nothing. */
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
