import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { underLock } from '#database/locks.js';
import { markHorizon } from '#ledger/postings/horizon.js';
import { CodedError } from '#platform/errors.js';
import {
  abandon,
  type BegunClose,
  CloseAbandoned,
  CloseAttempt,
  type CloseOptions,
  type CloseRequest,
} from './close-attempt.js';
import { note } from './checklist-note.js';
import { readCloseGrace } from './close-grace.js';
import { findPeriod, findPeriodOfRequest, type Period } from './period.js';

/**
 * Closing a period takes no lock that a posting would wait for:
 * 1. The row `closing` is committed. From then on the database refuses postings effective within the period.
 * 2. Two marks are passed, so that every transaction that may not have seen the row has ended. Between them the IDs are stored
 * that no longer get entries.
 * 3. The checklist runs on one snapshot. A failed item that two people have not waived for this end abandons the close.
 * 4. The trial balance of that snapshot is stored, and the row becomes `closed`. If it is killed anywhere, the row stays
 * `closing` until the next attempt continues it, if it is the same request, or abandons it.
 */

/** The close cannot begin. Nothing was written. */
export class CloseRefused extends CodedError<'running' | 'too_young' | 'closed_already' | 'other_request'> {}

/**
 * Closes the books up to an instant. Returns the period, closed or abandoned; its checklist or reason then says why.
 * @throws CloseRefused when it cannot begin, such as while another close runs
 */
export async function closePeriod(
  pool: pg.Pool,
  request: CloseRequest,
  options: CloseOptions,
): Promise<Period> {
  const ended = await endedCloseOf(pool, request);
  if (ended) return ended;
  return withCloseLock(pool, async () => {
    const meanwhile = await endedCloseOf(pool, request);
    if (meanwhile) return meanwhile;
    await requireEnd(pool, request, options);
    options.onProgress?.('bringing the books up to the end', null);
    // Costs and revenue are recorded up to what is final, which has to be past the end. The checklist names what holds it back.
    await markHorizon(pool, options.waitMs, options.signal);
    options.signal?.throwIfAborted();
    await options.catchUp?.();
    options.signal?.throwIfAborted();
    const close = new CloseAttempt(pool, { ...(await beginClose(pool, request)), request, options });
    await close.run();
    return (await findPeriod(pool, close.periodId)) as Period;
  });
}

async function endedCloseOf(pool: pg.Pool, request: CloseRequest): Promise<Period | null> {
  const known = await findPeriodOfRequest(pool, request);
  if (!known) return null;
  if (known.endsAt.getTime() !== request.end.getTime())
    throw new CloseRefused('other_request', 'This requestId was used for another close.');
  return known.state === 'closing' ? null : known;
}

async function withCloseLock<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const done = await underLock(pool, 'periodClose', work);
  if (!done) throw new CloseRefused('running', 'Another close is running.');
  return done.result;
}

async function requireEnd(pool: pg.Pool, { end }: CloseRequest, { marginMs }: CloseOptions): Promise<void> {
  const { rows } = await pool.query<{ isYoung: boolean; closedUntil: Date | null }>(
    `SELECT $1::timestamptz > clock_timestamp() - $2::float8 * interval '1 millisecond' AS "isYoung",
       (SELECT max(ends_at) FROM ledger_periods WHERE state = 'closed') AS "closedUntil"`,
    [end, marginMs],
  );
  const { isYoung, closedUntil } = rows[0] ?? {};
  if (closedUntil && closedUntil >= end) {
    throw new CloseRefused('closed_already', `The books are closed up to ${closedUntil.toISOString()}.`);
  }
  if (isYoung) {
    const message = `A period is closed ${marginMs / 1000} s after its end at the earliest.`;
    throw new CloseRefused('too_young', message);
  }
}

/** Only the holder of the lock closes, so a row in `closing` belongs to a program that died. */
function beginClose(pool: pg.Pool, request: CloseRequest): Promise<BegunClose> {
  return inTransaction(pool, async (client) => {
    const graceMs = await readCloseGrace(client);
    const { rows: left } = await client.query<{ id: bigint; attempt: number; isOurs: boolean }>(
      `SELECT id, attempt, closed_by = $1 AND request_id = $2 AS "isOurs" FROM ledger_periods WHERE state = 'closing' FOR UPDATE`,
      [request.actor, request.requestId],
    );
    if (left[0]?.isOurs) {
      const { rows } = await client.query<{ attempt: number }>(
        'UPDATE ledger_periods SET attempt = attempt + 1, grace_ms = $2 WHERE id = $1 RETURNING attempt',
        [left[0].id, graceMs],
      );
      return { periodId: left[0].id, attempt: rows[0]?.attempt ?? 0, graceMs };
    }
    if (left[0]) {
      const { id: periodId, attempt } = left[0];
      const ended = new CloseAbandoned(note('program_ended'));
      await abandon(client, { periodId, attempt }, ended);
    }
    return { periodId: await insertPeriod(client, request, graceMs), attempt: 1, graceMs };
  });
}

/** Starts where the last closed period ends. */
async function insertPeriod(client: pg.ClientBase, request: CloseRequest, graceMs: number): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint }>(
    `INSERT INTO ledger_periods (starts_at, ends_at, waivers, note, request_id, closed_by, grace_ms)
     VALUES ((SELECT coalesce(max(ends_at), '-infinity') FROM ledger_periods WHERE state = 'closed'), $1, '[]', $2, $3, $4, $5)
     RETURNING id`,
    [request.end, request.note, request.requestId, request.actor, graceMs],
  );
  return (rows[0] as { id: bigint }).id;
}
