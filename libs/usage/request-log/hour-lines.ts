import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { shown } from '#platform/http/fields.js';
import { USAGE_COLUMNS, type UsageEntry } from '../usage.store.js';
import { foundRequest } from '../usage.view.js';

export const HOUR_MS = 3_600_000;

/** Requests per query. A page is converted to text at once, while calls in the same process wait. */
const PAGE = 1_000;
/** The first page of a busy hour must not sort the whole hour. */
const FIRST_SLICE_MS = 60_000;
const SHORTEST_SLICE_MS = 1;

interface EndedRequest extends UsageEntry {
  accountId: string;
  /** When it ended or was refused: text, to the microsecond. */
  ended: string;
  endedMs: number;
}

/** After this request, in the order of their ends. Its id is empty before the first of a time. */
interface Place {
  ended: string;
  id: string;
}

/**
 * Requests that ended from $1, after request $3, until $2. Range indexes find them unordered, so the time range keeps
 * the sort of a page small. A refused request ends when it is made.
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
 * The requests that ended in the UTC hour with this start, as JSON lines, several at a time. Once the hour is final, it
 * always has the same lines, except for request ids and refusals that retention has removed. No transaction is open between
 * two pages, because the reader may be slow.
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
    // The time range of a full page is a good guess for the next one.
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
    // The range indexes serve it, even if the planner misjudges an empty or new table.
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

/** A vendor's message may quote a prompt, and a network error may contain addresses. They stay in the database. */
function codeIn(reason: string): string | null {
  return /^[a-z][a-z0-9_]{0,63}$/.test(reason) ? reason : null;
}
