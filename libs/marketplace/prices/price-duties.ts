import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { databaseNowMs } from '#database/database.js';
import { readLimit } from '#ledger/postings/outflow.js';
import { changeSubject } from './price-change.js';
import { largeMove, type LargeMove } from './price-move.js';
import { basedChange } from './based-change.js';
import { movedAlone, movesTo } from './moved-alone.js';
import type { Proposal } from './proposal.js';

/** The last author of a proposal's changes. */
export function authorOf({ revisedBy, proposedBy }: Pick<Proposal, 'revisedBy' | 'proposedBy'>): string {
  return revisedBy ?? proposedBy;
}

/**
 * Why someone other than the author must confirm a proposal, or null. What the author confirmed alone on the same UTC
 * day adds up: a subject is compared with its value before the first of these changes, and the multiplier of a group
 * that they began with the list price. It is compared with what others decided in between as well.
 */
export async function secondPersonReason(
  client: pg.ClientBase,
  proposal: Proposal,
): Promise<LargeMove | null> {
  const book = await loadPriceBook(client);
  const nowMs = await databaseNowMs(client);
  const atMs = proposal.effectiveAt?.getTime() ?? nowMs;
  const before = await movedAlone(client, authorOf(proposal));
  const moves = proposal.changes.flatMap(({ change }) => {
    const own = before.get(changeSubject(change)) ?? [];
    return movesTo(change, { own, current: basedChange(book, change, atMs).before });
  });
  for (const { after } of moves) before.delete(changeSubject(after));
  return largeMove(moves, [...before.values()].flat(), await readLimit(client, 'price-change-percent'));
}
