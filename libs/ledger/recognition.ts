import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { crashPoint } from '#platform/crash-points.js';
import { atHorizon, type Horizon } from './horizon.js';
import { type AccountEvents, readCursors, readLotEvents } from './lot-events.js';
import { LotsBroken, type LotPlayer, RowStraddles } from './lot-player.js';
import { playAccount, writePlays } from './lot-writer.js';
import { advanceLots } from './lots.js';
import { lockBalance } from './posting.js';

/**
 * Consumes lots and recognises their revenue behind the postings, for all accounts together, in chunks of the ledger up to its
 * horizon. What a chunk does is worked out on a snapshot without any lock, and written in one transaction under the locks of
 * the accounts' cursors: an account that somebody brought further meanwhile (`advanceLots`) has the chunk behind it, and is
 * left out. Whole or not at all; several recognisers at once do the same work, and one of them writes. An account whose postings
 * contradict each other is left where it is and tried again; the others go on.
 */

/** Ledger transactions of a chunk at most. */
const CHUNK = 100_000;
/** Stuck accounts that a round tries again at most. */
const TRIED_AGAIN = 20;

export interface RecognitionProgress {
  /** Everything up to this ledger transaction is consumed and recognised, of every account. */
  throughId: bigint;
  /** All that was recorded before is among it: PostgreSQL's text of a time in UTC, `-infinity` for nothing. */
  at: string;
}

export interface RecognisedChunk extends RecognitionProgress {
  /** Accounts whose lots moved. */
  accounts: number;
  /** Nothing more was certain. */
  caughtUp: boolean;
}

/** Recognises the next chunk. @returns null when another recogniser wrote it */
export async function recogniseNext(pool: pg.Pool, chunk = CHUNK): Promise<RecognisedChunk | null> {
  const work = await atHorizon(pool, (client, horizon) => planChunk(client, horizon, chunk));
  crashPoint('recognition.planned');
  return inTransaction(pool, (client) => writeChunk(client, work));
}

/** Recognises everything up to the present horizon. */
export async function recogniseAll(pool: pg.Pool, chunk = CHUNK): Promise<void> {
  while (!(await recogniseNext(pool, chunk))?.caughtUp);
}

/** How far recognition has come; what was effective before and comes to be known later is recognised when it comes. */
export async function recognitionProgress(client: pg.ClientBase | pg.Pool): Promise<RecognitionProgress> {
  const { rows } = await client.query<{ throughId: string; at: string }>(
    `SELECT through_id::text AS "throughId", ${UTC_TEXT} AS at FROM lot_progress`,
  );
  const row = rows[0] as { throughId: string; at: string };
  return { throughId: BigInt(row.throughId), at: row.at };
}

const UTC_TEXT = `CASE WHEN isfinite(at) THEN (at AT TIME ZONE 'UTC')::text || '+00' ELSE at::text END`;

interface ChunkWork extends RecognitionProgress {
  after: bigint;
  caughtUp: boolean;
  accounts: WorkedOut[];
}

interface WorkedOut {
  accountId: string;
  /** From where it was played. */
  cursor: bigint | null;
  /** Or why it cannot be played. */
  outcome: LotPlayer | LotsBroken;
}

async function planChunk(client: pg.ClientBase, horizon: Horizon, chunk: number): Promise<ChunkWork> {
  const { throughId: after, at } = await recognitionProgress(client);
  const { throughId, caughtUp } = await endOfChunk(client, { after, horizon, chunk });
  const scope = { after, through: throughId };
  const inRows = (throughId > after ? await readLotEvents(client, scope) : []).map(workOut);
  const accounts = inRows.filter(({ outcome }) => !(outcome instanceof RowStraddles));
  const straddling = inRows.filter(({ outcome }) => outcome instanceof RowStraddles);
  if (straddling.length > 0) {
    const accountIds = straddling.map(({ accountId }) => accountId);
    accounts.push(...(await readLotEvents(client, scope, accountIds)).map(workOut));
  }
  const reached = caughtUp ? await certainTime(client, horizon, throughId) : at;
  return { after, throughId, at: reached, caughtUp, accounts };
}

function workOut(account: AccountEvents): Omit<WorkedOut, 'outcome'> & {
  outcome: WorkedOut['outcome'] | RowStraddles;
} {
  const { accountId, cursor } = account;
  try {
    return { accountId, cursor, outcome: playAccount(account) };
  } catch (error) {
    if (error instanceof RowStraddles || error instanceof LotsBroken)
      return { accountId, cursor, outcome: error };
    throw error;
  }
}

async function endOfChunk(
  client: pg.ClientBase,
  { after, horizon, chunk }: { after: bigint; horizon: Horizon; chunk: number },
): Promise<{ throughId: bigint; caughtUp: boolean }> {
  const { rows } = await client.query<{ id: string | null; count: number }>(
    `SELECT max(id)::text AS id, count(*)::int AS count FROM (
       SELECT id FROM ledger_transactions WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS next`,
    [after, horizon.lastLedgerId, chunk],
  );
  const { id = null, count = 0 } = rows[0] ?? {};
  const isFull = id !== null && count === chunk;
  const last = isFull ? BigInt(id) : horizon.lastLedgerId - 1n;
  return { throughId: last > after ? last : after, caughtUp: !isFull };
}

/** What the snapshot sees beyond the last id may have been recorded before the horizon by a hair. */
async function certainTime(client: pg.ClientBase, { at }: Horizon, throughId: bigint): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `SELECT least($1::timestamptz, (SELECT min(recorded_at) FROM ledger_transactions WHERE id > $2))::text AS at`,
    [at, throughId],
  );
  return (rows[0] as { at: string }).at;
}

async function writeChunk(client: pg.ClientBase, work: ChunkWork): Promise<RecognisedChunk | null> {
  const { after, throughId, at, caughtUp } = work;
  const { rowCount } = await client.query(
    `UPDATE lot_progress SET through_id = $2, at = greatest(at, $3::timestamptz) WHERE through_id = $1`,
    [after, throughId, at],
  );
  if (rowCount === 0) return null;
  const accounts = await lockUnmoved(client, work.accounts);
  const plays = accounts.flatMap(({ accountId, outcome: player }) =>
    player instanceof LotsBroken ? [] : [{ accountId, player, throughId }],
  );
  if (plays.length > 0) await writePlays(client, plays, `recognition:${throughId}`);
  await noteStuck(client, accounts);
  crashPoint('recognition.before-commit');
  return { throughId, at, caughtUp, accounts: plays.length };
}

/** Those that nobody brought further since they were read, with their cursors locked. */
async function lockUnmoved(client: pg.ClientBase, accounts: readonly WorkedOut[]): Promise<WorkedOut[]> {
  const accountIds = accounts.map(({ accountId }) => accountId).sort();
  await client.query(
    `INSERT INTO lot_cursors (account_id, through_id)
     SELECT account_id, 0 FROM unnest($1::text[]) WITH ORDINALITY AS a (account_id, place) ORDER BY place
     ON CONFLICT DO NOTHING`,
    [accountIds],
  );
  const cursors = await readCursors(client, accountIds, 'FOR UPDATE');
  return accounts.filter(({ accountId, cursor }) => cursors.get(accountId) === (cursor ?? 0n));
}

async function noteStuck(client: pg.ClientBase, accounts: readonly WorkedOut[]): Promise<void> {
  for (const { accountId, outcome } of accounts) {
    if (!(outcome instanceof LotsBroken)) continue;
    await client.query('UPDATE lot_cursors SET stuck = $2 WHERE account_id = $1', [
      accountId,
      outcome.message,
    ]);
  }
}

/** Stuck accounts may go on when what they stumbled over was put right. @returns how many do */
export async function retryStuck(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM lot_cursors WHERE stuck IS NOT NULL ORDER BY account_id LIMIT $1`,
    [TRIED_AGAIN],
  );
  let count = 0;
  for (const { accountId } of rows) {
    try {
      await inTransaction(pool, async (client) => advanceLots(client, await lockBalance(client, accountId)));
      count += 1;
    } catch (error) {
      if (!(error instanceof LotsBroken)) throw error;
    }
  }
  return count;
}
