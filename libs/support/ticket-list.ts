import { type DataSource, type FindOptionsWhere, IsNull, LessThan, MoreThan } from 'typeorm';
import { foreignCursor, type Page, pageFrom, readCursor, readCursorId } from '#platform/http/page.js';
import { Ticket, type TicketKind, type TicketState } from './ticket.entity.js';

export interface TicketFilter {
  limit: number;
  cursor?: string | undefined;
  state?: TicketState | undefined;
  kind?: TicketKind | undefined;
  accountId?: string | undefined;
  /** A user id, or `none` for tickets without an assignee. */
  assignee?: string | undefined;
}

export async function listNewest(source: DataSource, filter: TicketFilter): Promise<Page<Ticket>> {
  const after = readCursorId(filter.cursor);
  const tickets = await source.getRepository(Ticket).find({
    where: { ...passing(filter), ...(after === null ? {} : { id: LessThan(after) }) },
    order: { id: 'DESC' },
    take: filter.limit + 1,
  });
  return pageFrom(tickets, filter.limit, ({ id }) => [id]);
}

export async function listWaiting(source: DataSource, filter: TicketFilter): Promise<Page<Ticket>> {
  const wanted = { ...passing(filter), state: 'open' as const };
  const after = readWaiting(filter.cursor);
  const tickets = await source.getRepository(Ticket).find({
    where: after === null ? wanted : after.map((further) => ({ ...wanted, ...further })),
    order: { waitingSince: 'ASC', id: 'ASC' },
    take: filter.limit + 1,
  });
  return pageFrom(tickets, filter.limit, ({ waitingSince, id }) => [String(waitingSince?.getTime()), id]);
}

function passing({ state, kind, accountId, assignee }: TicketFilter): FindOptionsWhere<Ticket> {
  return {
    ...(accountId === undefined ? {} : { accountId }),
    ...(state ? { state } : {}),
    ...(kind ? { kind } : {}),
    ...(assignee === undefined ? {} : { assigneeId: assignee === 'none' ? IsNull() : assignee }),
  };
}

/** Everything after the cursor: tickets that wait for less time, and of the same time those with a greater id. */
function readWaiting(cursor: string | undefined): FindOptionsWhere<Ticket>[] | null {
  const key = readCursor(cursor, 2);
  if (key === null) return null;
  const [time, id] = key as [string, string];
  if (!/^\d{1,13}$/.test(time)) throw foreignCursor();
  const waitingSince = new Date(Number(time));
  return [{ waitingSince: MoreThan(waitingSince) }, { waitingSince, id: MoreThan(id) }];
}
