import { readCursorId } from '#platform/http/page.js';
import type { DoneBy } from '#marketplace/prices/proposal.service.js';

/** Where a page of a list sorted by name begins. */
export function after(cursor: string | undefined): string {
  return readCursorId(cursor) ?? '';
}

export function doneBy({ actor, requestId }: { actor: { userId: string }; requestId: string }): DoneBy {
  return { actor: `user:${actor.userId}`, requestId };
}
