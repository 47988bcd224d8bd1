import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { readLimit } from '#ledger/postings/outflow.js';
import { changeSubject } from './price-change.js';
import { largeMove, type LargeMove, type PriceMove } from './price-move.js';
import { basedChange, type ProposedChange } from './based-change.js';
import type { Proposal } from './proposal.js';
import { databaseNowMs } from './prices-here.js';

/** The last author of a proposal's changes. */
export function authorOf({ revisedBy, proposedBy }: Pick<Proposal, 'revisedBy' | 'proposedBy'>): string {
  return revisedBy ?? proposedBy;
}

/**
 * Why someone other than the author must confirm a proposal, or null. What the author confirmed alone on the same UTC
 * day adds up: a subject is compared with its value before the first of these changes, and the multiplier of a group
 * that began on that day with the list price.
 */
export async function secondPersonReason(
  client: pg.ClientBase,
  proposal: Proposal,
): Promise<LargeMove | null> {
  const book = await loadPriceBook(client);
  const nowMs = await databaseNowMs(client);
  const atMs = proposal.effectiveAt?.getTime() ?? nowMs;
  const before = await movedAlone(client, authorOf(proposal));
  const begun = await begunToday(client);
  const moves = proposal.changes.map(({ change }): PriceMove => {
    if (change.kind === 'multiplier' && begun.has(change.group))
      return { before: { ...change, multiplier: '1' }, after: change };
    const first = before.get(changeSubject(change));
    return { before: first ? first.before : basedChange(book, change, atMs).before, after: change };
  });
  for (const { after } of moves) before.delete(changeSubject(after));
  return largeMove(moves, [...before.values()], await readLimit(client, 'price-change-percent'));
}

const TODAY = `date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;

/** Groups that began on this day, at a multiplier that one person chose. */
async function begunToday(client: pg.ClientBase): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM groups WHERE created_at >= ${TODAY}`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** What a person confirmed alone on this day, by subject: from the first value to the last. */
async function movedAlone(client: pg.ClientBase, author: string): Promise<Map<string, PriceMove>> {
  const { rows } = await client.query<{ changes: ProposedChange[] }>(
    `SELECT changes FROM price_proposals WHERE state = 'confirmed' AND decided_by = $1
       AND coalesce(revised_by, proposed_by) = $1
       AND decided_at >= ${TODAY} ORDER BY decided_at, id`,
    [author],
  );
  const moved = new Map<string, PriceMove>();
  for (const { change, before } of rows.flatMap(({ changes }) => changes)) {
    const subject = changeSubject(change);
    const first = moved.get(subject);
    moved.set(subject, { before: first ? first.before : before, after: change });
  }
  return moved;
}
