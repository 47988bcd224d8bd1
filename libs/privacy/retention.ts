import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import type { ConfigReader } from '#platform/config.js';
import type { DurationSetting } from '#platform/settings/settings.js';
import { firstIdAt } from '#platform/ids.js';

/**
 * Retention of everything that is not kept permanently, declared once for the loop that removes it, for administrators
 * and for customers. The books, approvals and the audit log stay. They name people only by ids.
 * Tickets say why money was returned, and stay until their account is deleted.
 */

/** Removes one batch, with at most this many rows. */
interface Batch {
  /** Removes what ended before. */
  before: Date;
  limit: number;
  /** Where the previous batch ended, for data that is read by id. */
  cursor: string | null;
}

interface Swept {
  /** Number of examined rows. If it equals the limit, more may be left. */
  seen: number;
  removed: number;
  cursor?: string | null;
}

export interface RetentionRule {
  /** The setting with its retention. */
  readonly variable: DurationSetting;
  /** Null: it expires by itself, in the program that stores it. */
  readonly sweep: ((client: pg.ClientBase, batch: Batch) => Promise<Swept>) | null;
}

export const retentionClasses = [
  'prompts',
  'videos',
  'images',
  'answers',
  'requestIds',
  'refusedRequests',
  'webhookDeliveries',
  'mails',
  'sessions',
  'signIns',
  'exports',
] as const;
export type RetentionClass = (typeof retentionClasses)[number];

/**
 * A charge that is still held then loses its request id too: nothing that ends it needs it, and nobody would come back for it.
 */
const CLEAR_REQUEST_IDS = `WITH old AS (SELECT id, request_id FROM charges WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3),
    cleared AS (UPDATE charges c SET request_id = NULL FROM old o
      WHERE c.id = o.id AND o.request_id IS NOT NULL RETURNING c.id)
  SELECT (SELECT count(*)::int FROM old) AS seen, (SELECT count(*)::int FROM cleared) AS removed,
    (SELECT max(id) FROM old) AS last`;

export const retentionRules: Record<RetentionClass, RetentionRule> = {
  /** Counted from the end of the task. */
  prompts: swept('RETENTION_PROMPTS_DAYS', clearPrompts),
  videos: byItself('VIDEO_FILE_LIFE_SECONDS'),
  images: byItself('IMAGE_URL_LIFE_SECONDS'),
  /** Answers that an Idempotency-Key repeats. */
  answers: byItself('IDEMPOTENCY_LIFE_SECONDS'),
  requestIds: swept('RETENTION_REQUEST_IDS_DAYS', walking(CLEAR_REQUEST_IDS)),
  refusedRequests: swept(
    'RETENTION_REFUSED_REQUESTS_DAYS',
    walking('SELECT seen, removed, last FROM remove_refused($1, $2, $3)'),
  ),
  webhookDeliveries: swept(
    'WEBHOOK_LOG_SECONDS',
    deleting('webhook_deliveries', `created_at < $1 AND state <> 'pending'`, 'created_at'),
  ),
  mails: swept('RETENTION_MAILS_DAYS', deleting('mail_outbox', 'ended_at < $1', 'ended_at')),
  sessions: swept(
    'RETENTION_SESSIONS_DAYS',
    deleting('sessions', 'least(expires_at, revoked_at) < $1', 'least(expires_at, revoked_at)'),
  ),
  /** Counted attempts. */
  signIns: byItself('SIGN_IN_WINDOW_SECONDS'),
  exports: swept(
    'ACCOUNT_EXPORT_LIFE_SECONDS',
    deleting(
      'data_exports',
      `coalesce(ready_at, requested_at) < $1 AND state IN ('ready', 'failed')`,
      'requested_at',
    ),
  ),
};

function swept(variable: DurationSetting, sweep: RetentionRule['sweep']): RetentionRule {
  return { variable, sweep };
}

function byItself(variable: DurationSetting): RetentionRule {
  return { variable, sweep: null };
}

/** Milliseconds that each class is kept. */
export type RetentionTimes = Readonly<Record<RetentionClass, number>>;

/** Other parts use some of them as well. */
export function readRetentionTimes(reader: ConfigReader): RetentionTimes {
  const times = retentionClasses.map((name) => [name, reader.get(retentionRules[name].variable)] as const);
  return Object.fromEntries(times) as Record<RetentionClass, number>;
}

/** The most rows that one transaction removes. */
export const RETENTION_BATCH = 1_000;

/**
 * Removes a batch of a class. If several processes try, one works and the others skip.
 * @returns how many were removed, and whether more may be left
 */
export function sweepRetention(
  pool: pg.Pool,
  name: RetentionClass,
  keptMs: number,
): Promise<{ removed: number; more: boolean }> {
  return inTransaction(pool, async (client) => {
    const keptSeconds = Math.round(keptMs / 1000);
    const run = await lockRun(client, name, keptSeconds);
    if (!run) return { removed: 0, more: false };
    const batch = {
      before: new Date(run.now.getTime() - keptMs),
      limit: RETENTION_BATCH,
      cursor: run.cursor,
    };
    const swept = (await retentionRules[name].sweep?.(client, batch)) ?? { seen: 0, removed: 0 };
    await client.query(
      `UPDATE retention_runs SET kept_seconds = $2, last_run_at = clock_timestamp(), removed_total = removed_total + $3,
         cursor = $4 WHERE class = $1`,
      [name, keptSeconds, swept.removed, swept.cursor === undefined ? run.cursor : swept.cursor],
    );
    return { removed: swept.removed, more: swept.seen === batch.limit };
  });
}

/** Undefined if another process has it. */
async function lockRun(client: pg.ClientBase, name: RetentionClass, keptSeconds: number) {
  await client.query(
    'INSERT INTO retention_runs (class, kept_seconds) VALUES ($1, $2) ON CONFLICT (class) DO NOTHING',
    [name, keptSeconds],
  );
  const { rows } = await client.query<{ cursor: string | null; now: Date }>(
    'SELECT cursor, now() FROM retention_runs WHERE class = $1 FOR UPDATE SKIP LOCKED',
    [name],
  );
  return rows[0];
}

export interface RetentionRun {
  class: string;
  keptSeconds: number;
  lastRunAt: Date | null;
  removedTotal: string;
}

/** The outcome of the last runs, in the order of declaration. */
export async function readRetention(pool: pg.Pool): Promise<RetentionRun[]> {
  const { rows } = await pool.query<RetentionRun>(
    `SELECT class, kept_seconds::float8 AS "keptSeconds", last_run_at AS "lastRunAt", removed_total::text AS "removedTotal"
     FROM retention_runs ORDER BY array_position($1::text[], class)`,
    [retentionClasses],
  );
  return rows;
}

/** What a task's views show besides the prompt stays: size, resolution and type of asset. */
const CLEARED_REQUEST = `request || '{"prompt": ""}'`;
const CLEARED_MESSAGE = `CASE WHEN error_message IS NOT NULL THEN 'The message is no longer kept.' END`;

async function clearPrompts(client: pg.ClientBase, { before, limit }: Batch): Promise<Swept> {
  const { rowCount } = await client.query(
    `UPDATE tasks SET request = ${CLEARED_REQUEST}, error_message = ${CLEARED_MESSAGE}, request_cleared_at = now()
     WHERE id IN (SELECT id FROM tasks WHERE request_cleared_at IS NULL AND ended_at IS NOT NULL AND ended_at < $1
       ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, limit],
  );
  return { seen: rowCount ?? 0, removed: rowCount ?? 0 };
}

type Walked = Record<'seen' | 'removed', number> & { last: string | null };

/** Charge ids start with their time, so they are read once, starting where the last batch ended. */
function walking(statement: string): NonNullable<RetentionRule['sweep']> {
  return async (client, { before, limit, cursor }) => {
    const { rows } = await client.query<Walked>(statement, [
      cursor ?? '',
      firstIdAt(before.getTime()),
      limit,
    ]);
    const { seen, removed, last } = rows[0]!;
    return { seen, removed, cursor: last ?? cursor };
  };
}

function deleting(table: string, condition: string, order: string): NonNullable<RetentionRule['sweep']> {
  return async (client, { before, limit }) => {
    const { rowCount } = await client.query(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition}
         ORDER BY ${order} LIMIT $2 FOR UPDATE SKIP LOCKED))`,
      [before, limit],
    );
    return { seen: rowCount ?? 0, removed: rowCount ?? 0 };
  };
}
