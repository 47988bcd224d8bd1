import type pg from 'pg';
import { inTransaction, isTransient } from '#database/database.js';
import { crashPoint } from '#platform/crash-points.js';
import { atHorizon, type Horizon } from '../postings/horizon.js';
import { type AccountEvents, readLotEvents } from './lot-events.js';
import { RangeMoves, steadyPlans } from './range-moves.js';
import { RowStraddles } from './lot-player.js';
import { playAccount } from './lot-writer.js';
import { advanceLots } from './lots.js';
import { lockBalance } from '../postings/posting.js';
import { type WorkedOut, writeWorkedOut } from './recognition-writer.js';

/**
 * Consumes lots and recognises their revenue behind the postings, for all accounts together, in chunks of the ledger up to its
 * horizon. What a chunk does is worked out on a snapshot without any lock, and written in small transactions, each under the
 * locks of a few accounts' cursors. The end of a chunk is noted before the first of them: a process that goes on after a crash, or
 * at the same time, does the same chunk, finds the cursors of what is written, and leaves that out, as it does with an
 * account that another process moved on meanwhile (`advanceLots`). Progress is reported when all of it is written. An account whose
 * postings contradict each other, or that cannot be written, is left where it is and tried again; the others go on.
 */

/** The most ledger transactions of a chunk. */
const CHUNK = 100_000;
/** The most stuck accounts that a round retries. */
const TRIED_AGAIN = 20;

export interface RecognitionProgress {
  /** Everything up to this ledger transaction is consumed and recognised for every account. */
  throughId: bigint;
  /** Includes everything recorded before this time. PostgreSQL text in UTC, `-infinity` for nothing. */
  at: string;
}

export interface RecognisedChunk extends RecognitionProgress {
  /** Accounts whose lots moved. */
  accounts: number;
  /** Nothing more was final. */
  caughtUp: boolean;
}

/** Recognises the next chunk. @returns null if another process finished it or has begun another */
export async function recogniseNext(pool: pg.Pool, chunk = CHUNK): Promise<RecognisedChunk | null> {
  const work = await atHorizon(pool, (client, horizon) => planChunk(client, horizon, chunk));
  const { after, throughId, at, caughtUp } = work;
  crashPoint('recognition.planned');
  if (work.accounts.length > 0 && !(await claim(pool, work))) return null;
  const accounts = await writeWorkedOut(pool, work.accounts, throughId);
  crashPoint('recognition.written');
  const { rowCount } = await pool.query(
    `UPDATE lot_progress SET through_id = $2, at = greatest(at, $3::timestamptz), target_id = NULL
     WHERE through_id = $1 AND (target_id IS NULL OR target_id = $2)`,
    [after, throughId, at],
  );
  return rowCount === 0 ? null : { throughId, at, caughtUp, accounts };
}

/** From now on nobody ends this chunk elsewhere: the cursors that it sets are never beyond what is read of their accounts. */
async function claim(pool: pg.Pool, { after, throughId }: ChunkWork): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE lot_progress SET target_id = $2 WHERE through_id = $1 AND (target_id IS NULL OR target_id = $2)`,
    [after, throughId],
  );
  return rowCount !== 0;
}

/** Recognises everything up to the present horizon. */
export async function recogniseAll(pool: pg.Pool, chunk = CHUNK): Promise<void> {
  while (!(await recogniseNext(pool, chunk))?.caughtUp);
}

/** The progress of recognition. Late facts with an earlier effective time are recognised when they arrive. */
export async function recognitionProgress(client: pg.ClientBase | pg.Pool): Promise<RecognitionProgress> {
  const { rows } = await client.query<RecognitionProgress>(
    `SELECT through_id AS "throughId", ${UTC_TEXT} AS at FROM lot_progress`,
  );
  return rows[0] as RecognitionProgress;
}

const UTC_TEXT = `CASE WHEN isfinite(at) THEN (at AT TIME ZONE 'UTC')::text || '+00' ELSE at::text END`;

interface ChunkWork extends RecognitionProgress {
  after: bigint;
  caughtUp: boolean;
  accounts: WorkedOut[];
}

async function planChunk(client: pg.ClientBase, horizon: Horizon, chunk: number): Promise<ChunkWork> {
  await steadyPlans(client);
  const { throughId: after, at } = await recognitionProgress(client);
  const { throughId, caughtUp } = await endOfChunk(client, { after, horizon, chunk });
  const accounts = throughId > after ? await workOutAll(client, { after, through: throughId }) : [];
  const reached = caughtUp ? await certainTime(client, horizon, throughId) : at;
  return { after, throughId, at: reached, caughtUp, accounts };
}

async function workOutAll(
  client: pg.ClientBase,
  scope: { after: bigint; through: bigint },
): Promise<WorkedOut[]> {
  const moves = await RangeMoves.read(client, scope);
  const inRows = (await readLotEvents(client, moves)).map(workOut);
  const accounts = inRows.filter(({ outcome }) => !(outcome instanceof RowStraddles));
  const straddling = inRows.filter(({ outcome }) => outcome instanceof RowStraddles);
  if (straddling.length === 0) return accounts;
  const accountIds = straddling.map(({ accountId }) => accountId);
  return [...accounts, ...(await readLotEvents(client, moves, accountIds)).map(workOut)];
}

function workOut(account: AccountEvents): WorkedOut {
  const { accountId, cursor } = account;
  try {
    return { accountId, cursor, outcome: playAccount(account) };
  } catch (error) {
    return { accountId, cursor, outcome: error as Error };
  }
}

async function endOfChunk(
  client: pg.ClientBase,
  { after, horizon, chunk }: { after: bigint; horizon: Horizon; chunk: number },
): Promise<{ throughId: bigint; caughtUp: boolean }> {
  const { rows } = await client.query<{ id: bigint | null; count: number; target: bigint | null }>(
    `SELECT max(id) AS id, count(*)::int AS count, (SELECT target_id FROM lot_progress) AS target FROM (
       SELECT id FROM ledger_transactions WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS next`,
    [after, horizon.lastLedgerId, chunk],
  );
  const { id = null, count = 0, target = null } = rows[0] ?? {};
  // Someone has begun it on an earlier snapshot.
  if (target !== null) return { throughId: target, caughtUp: target >= horizon.lastLedgerId - 1n };
  const isFull = id !== null && count === chunk;
  const last = isFull ? id : horizon.lastLedgerId - 1n;
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

/**
 * Stuck accounts may continue once their problem was corrected. Each round picks some at random, so that all get their turn.
 * @returns how many do
 */
export async function retryStuck(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM lot_cursors WHERE stuck IS NOT NULL ORDER BY random() LIMIT $1`,
    [TRIED_AGAIN],
  );
  let count = 0;
  for (const { accountId } of rows) {
    try {
      await inTransaction(pool, async (client) => advanceLots(client, await lockBalance(client, accountId)));
      count += 1;
    } catch (error) {
      if (isTransient(error)) throw error;
    }
  }
  return count;
}
