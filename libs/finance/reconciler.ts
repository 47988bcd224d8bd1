import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import type { ControlFailed } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import { inTransaction } from '#database/database.js';
import { underLock } from '#database/locks.js';
import type { Control, ControlItem } from './control.js';
import { type ControlOutcome, type ControlRun, runControls } from './control-run.js';
import { readStandings } from './findings.js';

export interface ReconcileOptions {
  readonly graceMs: number;
  /** As in `ControlContext`. */
  readonly reportOverdueMs?: number | undefined;
  /** The time limit for each query of a control. */
  readonly limitMs: number;
  /** How long results of runs are kept; findings stay. */
  readonly keepMs: number;
  /** Who asks, as in the audit log. */
  readonly askedBy: string;
  readonly signal?: AbortSignal;
}

/** Of a run that was stored. */
export interface Reconciliation extends ControlRun {
  readonly runId: bigint;
  /** Whether others are notified of something new. */
  readonly announced: boolean;
}

/** The number of subjects named in an announcement. */
const SUBJECTS_TOLD = 5;
const DAY_MS = 24 * 3_600_000;
/** A daily control is due a little before a full day, so that its time does not drift. */
const DAY_SLACK_MS = 600_000;
/** A check of recent items goes back this far before the last full check, because work may have been in progress then. */
const WINDOW_MARGIN_MS = 3_600_000;
/** The schedule leaves the database to others for this many times as long as its last run took. */
const REST = 4;

/**
 * Runs these controls now, over everything, and stores what they found. Null if another process is doing so.
 * @throws Error of the database; then nothing was stored
 */
export function reconcile(
  pool: pg.Pool,
  controls: readonly Control[],
  options: ReconcileOptions,
): Promise<Reconciliation | null> {
  return alone(pool, () => runAndStore(pool, controls, { ...options, since: new Map() }));
}

/**
 * A round of the schedule: runs what is due, and controls with a window on recent items if they checked everything within a day,
 * unless a round ran less than `intervalMs` ago or the schedule is resting. Several processes together run it as often as one
 * alone. Null if nothing was due.
 */
export function reconcileDue(
  pool: pg.Pool,
  controls: readonly Control[],
  options: ReconcileOptions & { readonly intervalMs: number },
): Promise<Reconciliation | null> {
  return alone(pool, async () => {
    if (await hasRunLately(pool, options)) return null;
    const due = await dueControls(pool, controls);
    if (due.length === 0) return null;
    return runAndStore(pool, due, { ...options, since: await readWindows(pool, due, options) });
  });
}

/** One process reconciles at a time. Null if another one does. */
async function alone<T>(pool: pg.Pool, work: () => Promise<T | null>): Promise<T | null> {
  const done = await underLock(pool, 'reconciler', work);
  return done && done.result;
}

async function hasRunLately(pool: pg.Pool, { intervalMs }: { intervalMs: number }): Promise<boolean> {
  const { rows } = await pool.query<{ lately: boolean }>(
    // The duration is measured by a clock that nobody sets. A run from a future time was before the clock was set.
    `SELECT clock_timestamp() BETWEEN started_at AND started_at + interval '1 millisecond' * greatest($1,
       ${REST + 1} * (SELECT coalesce(sum(duration_ms), 0) FROM control_results o WHERE o.run_id = r.id)) AS lately
     FROM control_runs r WHERE asked_by = 'system' ORDER BY id DESC LIMIT 1`,
    [intervalMs],
  );
  return rows[0]?.lately === true;
}

async function dueControls(pool: pg.Pool, controls: readonly Control[]): Promise<Control[]> {
  const { rows } = await pool.query<{ control: string }>(
    `SELECT DISTINCT o.control FROM control_results o JOIN control_runs r ON r.id = o.run_id
     WHERE o.error IS NULL AND r.started_at <= clock_timestamp()
       AND r.started_at > clock_timestamp() - $1 * interval '1 millisecond'`,
    [DAY_MS - DAY_SLACK_MS],
  );
  const done = new Set(rows.map(({ control }) => control));
  return controls.filter(({ id, every = 'round' }) => every === 'round' || !done.has(id));
}

/** By control ID, the time from which it has to check. A control that did not check everything within a day has none. */
async function readWindows(
  pool: pg.Pool,
  controls: readonly Control[],
  { graceMs }: ReconcileOptions,
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ control: string; since: string }>(
    `SELECT DISTINCT ON (o.control) o.control, to_char((least(r.horizon, r.started_at) - $3 * interval '1 millisecond')
       AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS since
     FROM control_results o JOIN control_runs r ON r.id = o.run_id
     WHERE o.control = ANY($1::text[]) AND o.since IS NULL AND o.error IS NULL AND r.started_at <= clock_timestamp()
       AND r.started_at > clock_timestamp() - $2 * interval '1 millisecond'
     ORDER BY o.control, o.run_id DESC`,
    [
      controls.flatMap(({ id, window }) => (window === true ? [id] : [])),
      DAY_MS,
      Math.max(graceMs, WINDOW_MARGIN_MS),
    ],
  );
  return new Map(rows.map(({ control, since }) => [control, since]));
}

async function runAndStore(
  pool: pg.Pool,
  controls: readonly Control[],
  options: ReconcileOptions & { readonly since: ReadonlyMap<string, string> },
): Promise<Reconciliation> {
  const { rows } = await pool.query<{ at: string }>(
    `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at`,
  );
  const startedAt = rows[0]?.at as string;
  const { graceMs, reportOverdueMs, limitMs, signal, since } = options;
  const run = await runControls(pool, {
    controls,
    graceMs,
    reportOverdueMs,
    limitMs,
    since,
    signal,
  });
  return inTransaction(pool, (client) => storeRun(client, run, { ...options, startedAt }));
}

/** Stores a run with its findings, announces new ones, and deletes old runs. */
async function storeRun(
  client: pg.ClientBase,
  run: ControlRun,
  options: ReconcileOptions & { readonly startedAt: string },
): Promise<Reconciliation> {
  const { startedAt } = options;
  const controls = run.outcomes.map(({ control }) => control.id);
  const standings = await readStandings(client, controls);
  const failing = new Set(standings.flatMap(({ control, state }) => (state === 'error' ? [control] : [])));
  const runId = await insertRun(client, run, options);
  const news: ControlFailed[] = [];
  const outcomes: ControlOutcome[] = [];
  for (const looked of run.outcomes) {
    const { fresh, unseen } = await storeOutcome(client, runId, looked);
    const outcome = withUnseen(looked, unseen);
    outcomes.push(outcome);
    const isNews = fresh.length > 0 || (outcome.error !== null && !failing.has(outcome.control.id));
    if (isNews) news.push(announcement({ runId, at: startedAt }, outcome, fresh));
  }
  await insertResults(client, runId, outcomes);
  await announceNews(client, news);
  await deleteOldRuns(client, options.keepMs);
  return { ...run, outcomes, runId, announced: news.length > 0 };
}

async function insertRun(
  client: pg.ClientBase,
  { horizon }: ControlRun,
  { startedAt, askedBy }: { startedAt: string; askedBy: string },
): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint }>(
    `INSERT INTO control_runs (started_at, horizon, asked_by) VALUES ($1, $2, $3) RETURNING id`,
    [startedAt, horizon, askedBy],
  );
  return (rows[0] as { id: bigint }).id;
}

async function insertResults(
  client: pg.ClientBase,
  runId: bigint,
  outcomes: readonly ControlOutcome[],
): Promise<void> {
  await client.query(
    `INSERT INTO control_results (run_id, control, count, duration_ms, fault, error, since)
     SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::timestamptz[])`,
    [
      runId,
      outcomes.map(({ control }) => control.id),
      outcomes.map(({ result }) => result?.count ?? null),
      outcomes.map(({ durationMs }) => durationMs),
      outcomes.map(({ fault }) => fault),
      outcomes.map(({ error }) => error),
      outcomes.map(({ since }) => since),
    ],
  );
}

/** Open findings that were not checked again still count. */
function withUnseen(outcome: ControlOutcome, unseen: number): ControlOutcome {
  const { result } = outcome;
  return result ? { ...outcome, result: { ...result, count: result.count + unseen } } : outcome;
}

async function announceNews(client: pg.ClientBase, news: readonly ControlFailed[]): Promise<void> {
  if (news.length === 0) return;
  const rows = news.map((each) => outboxRow(topics.controlFailed, each));
  await client.query(outboxInsert('billing', rows));
}

async function deleteOldRuns(client: pg.ClientBase, keepMs: number): Promise<void> {
  await client.query(
    `DELETE FROM control_runs WHERE started_at < clock_timestamp() - $1 * interval '1 millisecond'`,
    [keepMs],
  );
}

const RESOLVE_OTHERS = `UPDATE control_findings SET resolved_at = clock_timestamp()
  WHERE control = $1 AND resolved_at IS NULL AND subject <> ALL ($2::text[]) AND subject <> ALL ($4::text[])
    AND ($3::timestamptz IS NULL OR happened_at >= $3::timestamptz)`;

/**
 * Opens new findings, continues open ones, and ends those that are gone, as far as the control checked. @returns the new subjects,
 * and the number of open ones that it did not check
 */
async function storeOutcome(
  client: pg.ClientBase,
  runId: bigint,
  { control, result, since }: ControlOutcome,
): Promise<{ fresh: string[]; unseen: number }> {
  if (!result) return { fresh: [], unseen: 0 };
  const fresh = await storeFindings(client, runId, { control, items: result.items });
  const subjects = result.items.map(({ subject }) => subject);
  const others = [control.id, subjects, since, result.passedOver ?? []];
  // If the list was cut off, it is unknown what is gone.
  if (!result.isCut) {
    await client.query(RESOLVE_OTHERS, others);
  }
  const { rows: left } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM control_findings WHERE control = $1 AND resolved_at IS NULL
       AND subject <> ALL ($2::text[]) AND (subject = ANY ($4::text[])
         OR ($3::timestamptz IS NOT NULL AND (happened_at IS NULL OR happened_at < $3::timestamptz)))`,
    others,
  );
  return { fresh, unseen: left[0]?.count ?? 0 };
}

/** @returns the subjects that are new */
async function storeFindings(
  client: pg.ClientBase,
  runId: bigint,
  { control, items }: { control: Control; items: readonly ControlItem[] },
): Promise<string[]> {
  const stored = items.map(({ transactionIds, ...item }) => {
    return { ...item, transaction_ids: transactionIds.map(String) };
  });
  const { rows } = await client.query<{ subject: string; isNew: boolean }>(
    `INSERT INTO control_findings (control, subject, state, message, details, transaction_ids, happened_at, first_seen_at,
       last_seen_at)
     SELECT $1, i.subject, i.state, i.message, i.details, i.transaction_ids, i.at, r.started_at, r.started_at
     FROM jsonb_to_recordset($2::jsonb)
       AS i (subject text, state text, message text, details jsonb, transaction_ids bigint[], at timestamptz), control_runs r
     WHERE r.id = $3
     ON CONFLICT (control, subject) WHERE resolved_at IS NULL DO UPDATE SET state = EXCLUDED.state,
       message = EXCLUDED.message, details = EXCLUDED.details, transaction_ids = EXCLUDED.transaction_ids,
       happened_at = EXCLUDED.happened_at, last_seen_at = EXCLUDED.last_seen_at
     RETURNING subject, first_seen_at = last_seen_at AS "isNew"`,
    [control.id, JSON.stringify(stored), runId],
  );
  return rows.filter(({ isNew }) => isNew).map(({ subject }) => subject);
}

function announcement(
  { runId, at }: { runId: bigint; at: string },
  { control, result }: ControlOutcome,
  fresh: readonly string[],
): ControlFailed {
  return {
    runId: runId.toString(),
    control: control.id,
    state: result ? 'red' : 'error',
    count: result ? result.count : null,
    fresh: fresh.length,
    subjects: fresh.slice(0, SUBJECTS_TOLD).map((subject) => subject.slice(0, 200)),
    at,
  };
}
