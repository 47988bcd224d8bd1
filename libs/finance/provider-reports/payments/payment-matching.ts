import type pg from 'pg';
import type { PageAfter } from '../../listing.js';
import { named } from '#database/named-values.js';
import type { LineType, ReportingProvider } from '../report-line.js';
import { judgedPairs } from './judged-pairs.js';
import { FAULTY, type MatchDay, type MatchedItem, type MatchQuery } from './match.js';
import { KIND_OF_LINE, ONE, RECENT, WHOLE } from './sources.js';

/**
 * Payments against the provider's own report, in both directions. Our side is what the ledger has: top-ups, money in
 * suspense, refunds, disputes. Theirs are the lines of imported reports. Both are added up for each thing that they are
 * about, so that a refund that failed or a dispute that was won agrees too.
 */
const MATCHES = judgedPairs(WHOLE);
const RECENT_MATCHES = judgedPairs(RECENT);
const ONE_MATCH = judgedPairs(ONE);

const RANGE = `(:from::timestamptz IS NULL OR at >= :from::timestamptz) AND (:to::timestamptz IS NULL OR at < :to::timestamptz)
  AND (:states::text[] IS NULL OR state = ANY(:states::text[]))
  AND (:before::timestamptz IS NULL OR least(our_at, their_at) < :before::timestamptz)`;

interface ItemRow extends Omit<MatchedItem, 'ours' | 'theirs'> {
  ours: bigint | null;
  ourAt: string;
  ourCurrency: string;
  transactionIds: bigint[];
  theirs: bigint | null;
  theirAt: string;
  theirCurrency: string;
  lineIds: string[];
}

/** Oldest first. The client's time zone must be UTC. */
export async function listMatches(
  client: pg.ClientBase,
  query: MatchQuery,
  { limit, after }: PageAfter<'at' | 'provider' | 'kind' | 'id'>,
): Promise<MatchedItem[]> {
  const { at = null, provider = null, kind = null, id = null } = after ?? {};
  const key = { afterAt: at, afterProvider: provider, afterKind: kind, afterId: id };
  const { rows } = await client.query<ItemRow>(
    named(
      `${MATCHES}
       SELECT ${ITEM} FROM judged
       WHERE ${RANGE} AND (:afterAt::timestamptz IS NULL
         OR (at, provider, kind, id) > (:afterAt::timestamptz, :afterProvider::text, :afterKind::text, :afterId::text))
       ORDER BY at, provider, kind, id LIMIT :limit`,
      { ...valuesOf(query), ...key, limit },
    ),
  );
  return rows.map(toItem);
}

const ITEM = `provider, kind, id, state, at::text, our_at::text AS "ourAt", their_at::text AS "theirAt", ours::bigint, theirs::bigint,
  our_currency AS "ourCurrency", their_currency AS "theirCurrency", coalesce(txs, '{}') AS "transactionIds",
  coalesce(line_ids, '{}') AS "lineIds", changed,
  CASE WHEN abs(extract(epoch FROM our_at - their_at)) > 86400
    THEN floor(abs(extract(epoch FROM our_at - their_at)) / 86400)::int END AS "daysApart"`;

/**
 * The amounts of both sides for the subject of a line, by the versions in force. Null if a side does not know it.
 * @param type of the line
 */
export async function readMatch(
  client: pg.ClientBase,
  { provider, type, subjectId }: { provider: ReportingProvider; type: LineType; subjectId: string },
): Promise<{ ours: bigint | null; theirs: bigint | null }> {
  const { rows } = await client.query<Record<'ours' | 'theirs', bigint | null>>(
    named(
      `${ONE_MATCH} SELECT ours::bigint, theirs::bigint FROM pairs
       WHERE provider = :provider AND id = :id AND kind = (SELECT ${KIND_OF_LINE} FROM (SELECT :type::text AS type) AS l)`,
      { provider, graceMs: 0, before: null, id: subjectId, type },
    ),
  );
  return rows[0] ?? { ours: null, theirs: null };
}

/** The same by UTC day, provider, state and currency. */
export async function summariseMatches(client: pg.ClientBase, query: MatchQuery): Promise<MatchDay[]> {
  const { rows } = await client.query<MatchDay>(
    named(
      `${MATCHES}
     SELECT (at AT TIME ZONE 'UTC')::date::text AS day, provider, state, coalesce(their_currency, our_currency) AS currency,
       count(*)::int AS items, coalesce(sum(ours), 0)::bigint AS "oursMinor", coalesce(sum(theirs), 0)::bigint AS "theirsMinor"
     FROM judged WHERE ${RANGE} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
      valuesOf(query),
    ),
  );
  return rows;
}

/**
 * The items that a person must look at, dated before the time by either side, and their count. With `since`, only those touched
 * or newly covered by a report since then.
 */
export async function findFaultyMatches(
  client: pg.ClientBase,
  {
    graceMs,
    before,
    since,
    limit,
  }: { graceMs: number; before: string | null; since: string | null; limit: number },
): Promise<{ count: number; items: MatchedItem[] }> {
  const { rows } = await client.query<ItemRow & { count: number }>(
    named(
      `${since === null ? MATCHES : RECENT_MATCHES}
       SELECT ${ITEM}, (count(*) OVER ())::int AS count FROM judged
       WHERE state = ANY(:states::text[])
         AND (:before::timestamptz IS NULL OR least(our_at, their_at) < :before::timestamptz)
       ORDER BY judged.at, provider, kind, id LIMIT :limit`,
      { provider: null, graceMs, before, states: FAULTY, limit, since },
    ),
  );
  return { count: rows[0]?.count ?? 0, items: rows.map(toItem) };
}

function valuesOf({
  provider,
  graceMs,
  from,
  to,
  states,
  before = null,
}: MatchQuery): Record<string, unknown> {
  return { provider, graceMs, before, from, to, states };
}

function toItem(row: ItemRow): MatchedItem {
  const { ours, ourAt, ourCurrency, transactionIds, theirs, theirAt, theirCurrency, lineIds, ...item } = row;
  return {
    ...item,
    ours: ours === null ? null : { amountMinor: ours, currency: ourCurrency, at: ourAt, transactionIds },
    theirs: theirs === null ? null : { amountMinor: theirs, currency: theirCurrency, at: theirAt, lineIds },
  };
}
