import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { shown } from '#platform/http/fields.js';
import { USAGE_COLUMNS, type UsageEntry } from '../usage.store.js';
import { foundRequest } from '../usage.view.js';

export const HOUR_MS = 3_600_000;

/** Requests of one query: a page is made into text at once, while calls of the same process wait. */
const PAGE = 1_000;
/** The first page of a busy hour must not have to sort all of it. */
const FIRST_SLICE_MS = 60_000;
const SHORTEST_SLICE_MS = 1;

interface EndedRequest extends UsageEntry {
  accountId: string;
  /** When it ended, or was refused: text, to the microsecond. */
  ended: string;
  endedMs: number;
}

/** Behind this request, in the order of their ends; its id is empty before the first of a time. */
interface Place {
  ended: string;
  id: string;
}

/**
 * Requests that ended from $1, behind the request $3, until $2. Range indexes find them, which know no order: the time keeps what is
 * sorted for a page small. A refused request ends when it is made.
 */
const ENDED = `SELECT ${USAGE_COLUMNS}, c.account_id AS "accountId", c.ended_at::text AS ended,
    floor(extract(epoch FROM c.ended_at) * 1000)::float8 AS "endedMs"
  FROM (SELECT * FROM (
      SELECT *, resolved_at AS ended_at FROM charges WHERE resolved_at >= $1::timestamptz AND resolved_at < $2::timestamptz
      UNION ALL
      SELECT *, created_at FROM charges
        WHERE state = 'refused' AND created_at >= $1::timestamptz AND created_at < $2::timestamptz) AS found
    WHERE (ended_at, id) > ($1::timestamptz, $3) ORDER BY ended_at, id LIMIT $4) AS c
  LEFT JOIN models m ON m.id = c.model_id ORDER BY c.ended_at, c.id`;

/**
 * The requests that ended in the hour of UTC that begins then, a line of JSON each, some lines at a time. The same hour has the
 * same lines whenever it is read, once it is final, but for request ids that retention has removed since. No transaction is open between two pages: the reader may be slow.
 */
export async function* linesOfHour(
  pool: pg.Pool,
  hour: Date,
  page = PAGE,
): AsyncGenerator<{ text: string; count: number }> {
  const endMs = hour.getTime() + HOUR_MS;
  let place: Place = { ended: hour.toISOString(), id: '' };
  let sliceMs = FIRST_SLICE_MS;
  for (let fromMs = hour.getTime(); fromMs < endMs;) {
    const toMs = Math.min(fromMs + sliceMs, endMs);
    const found = await readPage(pool, { place, to: new Date(toMs), page });
    if (found.length > 0) yield { text: found.map(lineOf).join(''), count: found.length };
    const last = found[page - 1];
    // What a full page came to is as much time as the next one is likely to need.
    sliceMs = last ? Math.max(last.endedMs - fromMs, SHORTEST_SLICE_MS) : sliceMs * 2;
    fromMs = last ? last.endedMs : toMs;
    place = last ? { ended: last.ended, id: last.chargeId } : { ended: new Date(toMs).toISOString(), id: '' };
  }
}

function readPage(
  pool: pg.Pool,
  { place, to, page }: { place: Place; to: Date; page: number },
): Promise<EndedRequest[]> {
  return inTransaction(pool, async (client) => {
    // The range indexes serve it, whatever the planner thinks of an empty or a new table.
    await client.query('SET LOCAL enable_seqscan = off');
    const { rows } = await client.query<EndedRequest>(ENDED, [place.ended, to, place.id, page]);
    return rows;
  });
}

function lineOf(request: EndedRequest): string {
  const { endedAt, at, reason } = request;
  const line = shown(foundRequest, { ...request, endedAt: endedAt ?? at, reason: reason && codeIn(reason) });
  return `${JSON.stringify(line)}\n`;
}

/** The words of a vendor may quote a prompt, and those of a network its addresses: they stay in the database. */
function codeIn(reason: string): string | null {
  return /^[a-z][a-z0-9_]{0,63}$/.test(reason) ? reason : null;
}
