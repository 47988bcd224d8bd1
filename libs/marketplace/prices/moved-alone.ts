import type pg from 'pg';
import type { ProposedChange } from './based-change.js';
import { changeSubject, type PriceChange, sameChange } from './price-change.js';
import { beginningOf, type PriceMove } from './price-move.js';

/** When the UTC day began, in SQL. */
export const START_OF_DAY = `date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

/**
 * What a person decided alone on this UTC day, by subject: to their last value, from the first one and from each that
 * others left in between.
 */
export async function movedAlone(
  client: pg.ClientBase,
  author: string,
): Promise<Map<string, readonly PriceMove[]>> {
  const begun = await client.query<{ name: string; multiplier: string }>(
    `SELECT after ->> 'name' AS name, after ->> 'multiplier' AS multiplier FROM audit_log
     WHERE actor = $1 AND action = 'group.created' AND recorded_at >= ${START_OF_DAY}`,
    [author],
  );
  const { rows } = await client.query<{ changes: ProposedChange[] }>(
    `SELECT changes FROM price_proposals WHERE state = 'confirmed' AND decided_by = $1
       AND coalesce(revised_by, proposed_by) = $1 AND decided_at >= ${START_OF_DAY} ORDER BY decided_at, id`,
    [author],
  );
  const moved = new Map<string, readonly PriceMove[]>();
  for (const { name, multiplier } of begun.rows) {
    const move = beginningOf(name, multiplier);
    moved.set(changeSubject(move.after), [move]);
  }
  for (const { change, before } of rows.flatMap(({ changes }) => changes)) {
    const subject = changeSubject(change);
    moved.set(subject, movesTo(change, { own: moved.get(subject) ?? [], current: before }));
  }
  return moved;
}

/**
 * A further value of a subject, compared with all that its author moved it from, and with the current one if that is
 * not theirs.
 */
export function movesTo(
  after: PriceChange,
  { own, current }: { own: readonly PriceMove[]; current: PriceChange | null },
): PriceMove[] {
  const isOwn = current !== null && own.some((move) => sameChange(move.after, current));
  const befores = [...own.map(({ before }) => before), ...(isOwn ? [] : [current])];
  return befores.map((before) => ({ before, after }));
}
