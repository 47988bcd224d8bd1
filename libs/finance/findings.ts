import type pg from 'pg';
import { z } from 'zod';
import { audit } from '#identity/audit-log.js';
import { ApiError } from '#platform/errors.js';
import { numberText, type RowOf, timeView, wordView } from '#platform/http/fields.js';
import { foundStates } from './found-states.js';

/** The state of a control when it last ran. Times are PostgreSQL's text in the client's time zone. */
export interface ControlStanding {
  control: string;
  /** `never`: it has not run yet. */
  state: 'green' | 'red' | 'error' | 'never';
  /** Null if it could not run, or has not run yet. */
  count: bigint | null;
  lastRunAt: string | null;
  /** The time up to which the books were final in that run. */
  horizon: string | null;
  durationMs: number | null;
  /** Also null if it failed before codes were stored. */
  fault: 'too_slow' | 'failed' | null;
  error: string | null;
  openFindings: bigint;
  /** How many of them nobody has acknowledged. */
  unacknowledged: bigint;
}

/** The states of these controls, in order. */
export async function readStandings(
  client: Pick<pg.ClientBase, 'query'>,
  controls: readonly string[],
): Promise<ControlStanding[]> {
  const { rows } = await client.query<ControlStanding>(
    `SELECT asked.control, coalesce(last.state, 'never') AS state, last.count, last.at AS "lastRunAt", last.horizon,
       last.duration_ms AS "durationMs", last.fault, last.error, coalesce(open.count, 0) AS "openFindings",
       coalesce(open.waiting, 0) AS unacknowledged
     FROM unnest($1::text[]) WITH ORDINALITY AS asked (control, place)
     LEFT JOIN LATERAL (
       SELECT o.count, o.duration_ms, o.fault, o.error, r.started_at::text AS at, r.horizon::text AS horizon,
         CASE WHEN o.error IS NOT NULL THEN 'error' WHEN o.count = 0 THEN 'green' ELSE 'red' END AS state
       FROM control_results o JOIN control_runs r ON r.id = o.run_id
       WHERE o.control = asked.control ORDER BY o.run_id DESC LIMIT 1) AS last ON true
     LEFT JOIN LATERAL (
       SELECT count(*), count(*) FILTER (WHERE acknowledged_at IS NULL) AS waiting FROM control_findings f
       WHERE f.control = asked.control AND f.resolved_at IS NULL) AS open ON true
     ORDER BY asked.place`,
    [controls],
  );
  return rows;
}

export interface FindingDays {
  /** UTC days up to today, oldest first. */
  days: string[];
  /** For each control with findings: the number of findings open at some time on each day. */
  findings: Map<string, bigint[]>;
}

export async function readFindingDays(
  client: Pick<pg.ClientBase, 'query'>,
  days: number,
): Promise<FindingDays> {
  const { rows } = await client.query<{ day: string; control: string | null; count: bigint }>(
    // Findings are read once. Joined with the days, all of them would be compared with each.
    `WITH bounds AS (SELECT today - $1::int + 1 AS first, today FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t),
     open AS (
       SELECT generate_series(greatest((first_seen_at AT TIME ZONE 'UTC')::date, first),
         least((resolved_at AT TIME ZONE 'UTC')::date, today), interval '1 day')::date AS day, control
       FROM control_findings, bounds WHERE resolved_at IS NULL OR resolved_at >= first::timestamp AT TIME ZONE 'UTC')
     SELECT d.day::date::text AS day, open.control, count(open.control) AS count
     FROM bounds CROSS JOIN generate_series(first, today, interval '1 day') AS d (day) LEFT JOIN open ON open.day = d.day::date
     GROUP BY d.day, open.control ORDER BY d.day`,
    [days],
  );
  const all = [...new Set(rows.map(({ day }) => day))];
  const findings = new Map<string, bigint[]>();
  for (const { day, control, count } of rows) {
    if (control === null) continue;
    const counts = findings.get(control) ?? all.map(() => 0n);
    counts[all.indexOf(day)] = count;
    findings.set(control, counts);
  }
  return { days: all, findings };
}

export const findingShape = z
  .object({
    id: numberText,
    control: z.string(),
    subject: z.string().meta({ examples: ['charge:01k0000000000000000000000'] }),
    state: wordView(foundStates).meta({ examples: ['overdue', 'missing_here', 'differs'] }),
    message: z.string().describe('The state and its details as an English sentence.'),
    details: z
      .record(z.string(), z.string().nullable())
      .describe(
        'What the state is about: amounts as decimal strings with their unit, IDs, times. `also` has further states.',
      ),
    transactionIds: z.array(numberText).describe('Related ledger transactions.'),
    firstSeenAt: timeView,
    lastSeenAt: timeView,
    resolvedAt: timeView.nullable(),
    acknowledgedBy: z.string().nullable().describe('`user:{id}`.'),
    acknowledgedAt: timeView.nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: 'Finding' });

export type Finding = RowOf<typeof findingShape, Date>;

export type FindingState = 'open' | 'resolved' | 'all';

export interface FindingsQuery {
  /** Null means all controls. */
  control: string | null;
  state: FindingState;
  limit: number;
  /** The last finding of the previous page. */
  after: bigint | null;
}

const COLUMNS = `id, control, subject, state, message, details, transaction_ids AS "transactionIds",
  first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt", resolved_at AS "resolvedAt",
  'user:' || acknowledged_by AS "acknowledgedBy", acknowledged_at AS "acknowledgedAt", note`;

/** Findings, newest first. */
export async function listFindings(
  client: Pick<pg.ClientBase, 'query'>,
  { control, state, limit, after }: FindingsQuery,
): Promise<Finding[]> {
  const { rows } = await client.query<Finding>(
    `SELECT ${COLUMNS} FROM control_findings
     WHERE ($1::text IS NULL OR control = $1) AND ($2::bigint IS NULL OR id < $2)
       AND ($3 = 'all' OR (resolved_at IS NULL) = ($3 = 'open'))
     ORDER BY id DESC LIMIT $4`,
    [control, after?.toString() ?? null, state, limit],
  );
  return rows;
}

export interface Acknowledgement {
  control: string;
  findingId: bigint;
  userId: string;
  note: string | null;
  requestId: string;
}

/**
 * Acknowledges a finding. It stays open until its control no longer finds it.
 * @throws ApiError not_found, or conflict if it is resolved
 */
export async function acknowledgeFinding(client: pg.ClientBase, asked: Acknowledgement): Promise<Finding> {
  const { control, findingId, userId, note, requestId } = asked;
  const { rows: before } = await client.query<Finding>(
    `SELECT ${COLUMNS} FROM control_findings WHERE id = $1 AND control = $2 FOR UPDATE`,
    [findingId.toString(), control],
  );
  const finding = before[0];
  if (!finding) throw new ApiError('not_found', 'There is no such finding.');
  if (finding.resolvedAt) throw new ApiError('conflict', 'The finding is already resolved.');
  const { rows } = await client.query<Finding>(
    `UPDATE control_findings SET acknowledged_by = $2, acknowledged_at = clock_timestamp(), note = $3 WHERE id = $1
     RETURNING ${COLUMNS}`,
    [findingId.toString(), userId, note],
  );
  const after = rows[0] as Finding;
  await audit(client, {
    actor: `user:${userId}`,
    action: 'finding.acknowledged',
    subject: `finding:${control}:${findingId}`,
    before: acknowledgementOf(finding),
    after: acknowledgementOf(after),
    requestId,
  });
  return after;
}

function acknowledgementOf({ acknowledgedBy, note }: Finding) {
  return { acknowledgedBy, note };
}
