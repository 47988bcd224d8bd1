import type pg from 'pg';
import { z } from 'zod';
import { amountView, numberText, type RowOf, timeView } from '#platform/http/fields.js';
import { type Family, modelFamilies } from '#pricing/price-book.js';
import { conditionsOn, idsWithin, type Slice } from './newest-first.js';

export const usageStates = ['refused', 'held', 'settled', 'released'] as const;

/** Which requests; times are of their holds, `to` is not included. */
export interface UsageFilter {
  keyId?: string | undefined;
  model?: string | undefined;
  group?: string | undefined;
  family?: Family | undefined;
  state?: (typeof usageStates)[number] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const whole = numberText.nullable().describe('A whole number.');

export const usageEntry = z
  .object({
    chargeId: z.string(),
    requestId: z.string().nullable(),
    at: timeView,
    endedAt: timeView.nullable(),
    keyId: z.string().nullable(),
    requestedModel: z.string().nullable(),
    model: z.string().nullable(),
    family: z.enum(modelFamilies).nullable(),
    group: z.string().nullable(),
    state: z.enum(usageStates),
    units: whole,
    deliveredUnits: whole,
    held: amountView,
    settled: amountView.nullable(),
    released: amountView.nullable(),
    operatorLoss: amountView,
    refusalCode: z.string().nullable(),
    reason: z.string().nullable(),
    channel: z.string().nullable().describe('Visible to staff only; null for customers.'),
    upstreamStatus: z.int().nullable(),
    latencyMs: z.int().nullable(),
    taskId: z.string().nullable(),
  })
  .meta({ id: 'UsageEntry' });

/** One request for one model: each has exactly one, refused ones too until retention removes them. Of several models, those that were tried have one each. */
export type UsageEntry = RowOf<typeof usageEntry, Date>;

/** A page looks at this many requests at most, newest first: what its filter does not find there, later pages do. */
const SCAN_LIMIT = 5_000;
/** A charge's id is minted before the hold: long before it, for a request that waited on the bus until it was refused. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** An entry of charges `c` and their models `m`. */
export const USAGE_COLUMNS = `c.id AS "chargeId", c.request_id AS "requestId", c.created_at AS at, c.resolved_at AS "endedAt",
  c.key_id AS "keyId", c.requested_model AS "requestedModel", c.model_id AS model, coalesce(c.family, m.family) AS family,
  c.group_name AS "group", c.state, c.units, c.delivered_units AS "deliveredUnits", c.amount AS held, c.settled, c.released,
  c.operator_loss AS "operatorLoss", c.refusal_code AS "refusalCode", c.resolution_reason AS reason,
  c.channel_id AS channel, c.upstream_status AS "upstreamStatus", c.latency_ms AS "latencyMs", c.task_id AS "taskId"`;

/** The requests of an account, newest first, by the index of account and id whatever the filter is. */
export async function readUsage(
  pool: pg.Pool,
  { accountId, filter }: { accountId: string; filter: UsageFilter },
  page: { limit: number; after: string | null },
): Promise<Slice<UsageEntry>> {
  const { scan, values } = scanOf(accountId, filter, page.after);
  const where = conditionsOf(filter, values);
  const { rows } = await pool.query<UsageEntry>(
    `SELECT ${USAGE_COLUMNS} FROM (SELECT * ${scan} ${NEWEST_FIRST} LIMIT ${SCAN_LIMIT}) AS c
     LEFT JOIN models m ON m.id = c.model_id ${where} ORDER BY c.account_id DESC, c.id DESC LIMIT ${page.limit + 1}`,
    values,
  );
  const items = rows.slice(0, page.limit);
  if (rows.length > page.limit) return { items, next: items.at(-1)!.chargeId };
  return { items, next: await scanEnd(pool, scanOf(accountId, filter, page.after)) };
}

/** Where the scan ended when it did not come to the end of the list. */
async function scanEnd(pool: pg.Pool, { scan, values }: ReturnType<typeof scanOf>): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id ${scan} ${NEWEST_FIRST} OFFSET ${SCAN_LIMIT - 1} LIMIT 1`,
    values,
  );
  return rows[0]?.id ?? null;
}

/**
 * By rows of account and id: with the account as a condition of its own, the database would rather read all ids backwards
 * and drop those of other accounts, which never ends for a small one.
 */
const NEWEST_FIRST = 'ORDER BY account_id DESC, id DESC';

function scanOf(
  accountId: string,
  filter: UsageFilter,
  after: string | null,
): { scan: string; values: unknown[] } {
  const { first, before } = idsWithin(filter, after, LONGEST_WAIT_MS);
  return {
    scan: 'FROM charges WHERE (account_id, id) < ($1, $2) AND (account_id, id) >= ($1, $3)',
    values: [accountId, before, first],
  };
}

/** The conditions of a filter on charges `c` and their models `m`; adds its values. */
function conditionsOf(filter: UsageFilter, values: unknown[]): string {
  const conditions = conditionsOn(values, {
    'c.key_id =': filter.keyId,
    'c.model_id =': filter.model,
    'c.group_name =': filter.group,
    'coalesce(c.family, m.family) =': filter.family,
    'c.state =': filter.state,
    'c.created_at >=': filter.from,
    'c.created_at <': filter.to,
  });
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

export type DailySubject = 'model' | 'key';

/** The requests of a UTC day, all or of one model or key; amounts in nanos. */
export interface DailyTotal {
  day: string;
  subject: string;
  requests: bigint;
  settled: bigint;
  released: bigint;
  refused: bigint;
  open: bigint;
  /** What was settled. */
  amount: bigint;
}

const SUBJECT = { model: `coalesce(c.model_id, '')`, key: `coalesce(c.key_id, '')` };

const DAY = `(c.created_at AT TIME ZONE 'UTC')::date`;

interface DailyQuery {
  filter: UsageFilter & { from: Date; to: Date };
  by: DailySubject | null;
  limit: number;
  after: readonly string[] | null;
}

/** Totals by UTC day, newest first, and by model or key within it; after a day and subject. */
export async function readDailyUsage(
  pool: pg.Pool,
  accountId: string,
  { filter, by, limit, after }: DailyQuery,
): Promise<DailyTotal[]> {
  const { scan, values } = scanOf(accountId, filter, null);
  const where = conditionsOf(filter, values);
  const continued = after
    ? `HAVING ${DAY} < $${values.push(after[0])}
         OR ${DAY} = $${values.length} AND ${subjectOf(by)} > $${values.push(after[1])}`
    : '';
  const { rows } = await pool.query<DailyTotal>(
    `SELECT ${DAY}::text AS day, ${subjectOf(by)} AS subject, count(*) AS requests,
       count(*) FILTER (WHERE c.state = 'settled') AS settled, count(*) FILTER (WHERE c.state = 'released') AS released,
       count(*) FILTER (WHERE c.state = 'refused') AS refused, count(*) FILTER (WHERE c.state = 'held') AS open,
       coalesce(sum(c.settled), 0)::bigint AS amount
     FROM (SELECT * ${scan}) AS c LEFT JOIN models m ON m.id = c.model_id ${where}
     GROUP BY ${DAY}, ${subjectOf(by)} ${continued}
     ORDER BY ${DAY} DESC, ${subjectOf(by)} LIMIT ${limit}`,
    values,
  );
  return rows;
}

function subjectOf(by: DailySubject | null): string {
  return by === null ? `''::text` : SUBJECT[by];
}
