import type pg from 'pg';
import type { ProposedChange } from './based-change.js';
import { changeSubject } from './price-change.js';
import { beginningOf, type PriceMove } from './price-move.js';

/** When the UTC day began, in SQL. */
export const START_OF_DAY = `date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

/** What a person decided alone on this UTC day, by subject: from the first value to the last. */
export async function movedAlone(client: pg.ClientBase, author: string): Promise<Map<string, PriceMove>> {
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
  const moved = new Map<string, PriceMove>();
  for (const { name, multiplier } of begun.rows) {
    const move = beginningOf(name, multiplier);
    moved.set(changeSubject(move.after), move);
  }
  for (const { change, before } of rows.flatMap(({ changes }) => changes)) {
    const subject = changeSubject(change);
    const first = moved.get(subject);
    moved.set(subject, { before: first ? first.before : before, after: change });
  }
  return moved;
}
