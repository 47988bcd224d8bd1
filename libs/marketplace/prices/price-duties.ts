import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { readLimit } from '#ledger/postings/outflow.js';
import { changeSubject, sameChange } from './price-change.js';
import { largeMove, type LargeMove, type PriceMove } from './price-move.js';
import { basedChange } from './based-change.js';
import { movedAlone } from './moved-alone.js';
import type { Proposal } from './proposal.js';
import { databaseNowMs } from './prices-here.js';

/** The last author of a proposal's changes. */
export function authorOf({ revisedBy, proposedBy }: Pick<Proposal, 'revisedBy' | 'proposedBy'>): string {
  return revisedBy ?? proposedBy;
}

/**
 * Why someone other than the author must confirm a proposal, or null. What the author confirmed alone on the same UTC
 * day adds up: a subject is compared with its value before the first of these changes, and the multiplier of a group
 * that they began with the list price. What others decided since is another value that it is compared with.
 */
export async function secondPersonReason(
  client: pg.ClientBase,
  proposal: Proposal,
): Promise<LargeMove | null> {
  const book = await loadPriceBook(client);
  const nowMs = await databaseNowMs(client);
  const atMs = proposal.effectiveAt?.getTime() ?? nowMs;
  const before = await movedAlone(client, authorOf(proposal));
  const moves = proposal.changes.flatMap(({ change }): PriceMove[] => {
    const alone = before.get(changeSubject(change));
    const now = { before: basedChange(book, change, atMs).before, after: change };
    if (!alone) return [now];
    const isOwn = now.before !== null && sameChange(now.before, alone.after);
    return [{ before: alone.before, after: change }, ...(isOwn ? [] : [now])];
  });
  for (const { after } of moves) before.delete(changeSubject(after));
  return largeMove(moves, [...before.values()], await readLimit(client, 'price-change-percent'));
}
