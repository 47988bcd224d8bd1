import type pg from 'pg';
import { readFact } from '#identity/installation.js';
import { note } from './checklist-note.js';
import { type ChecklistAnswer, counted } from './checklist-question.js';

/** Whether the installation is declared to have only one person, and what that person decided alone since the last close. */
export async function tellDoneAlone(
  client: Pick<pg.ClientBase, 'query'>,
  end: Date,
): Promise<ChecklistAnswer> {
  const isOne = await readFact(client, 'one-person');
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM done_alone WHERE recorded_at < $1 AND recorded_at >=
       (SELECT coalesce(max(ends_at), '-infinity') FROM ledger_periods WHERE state = 'closed')`,
    [end],
  );
  const { count = 0 } = rows[0] ?? {};
  const declared = isOne ? [note('one_person')] : [];
  return { count: 0, notes: [...declared, ...counted('decided_alone', count).notes] };
}
