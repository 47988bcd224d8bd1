import type pg from 'pg';
import { readBalance } from '#ledger/postings/customer-account.js';
import { nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { ACCOUNT_TASKS, type AccountTask } from './task.reader.js';
import { NOT_SUMMED_UP } from './usage-summary.js';
import { readUsage, type UsageEntry } from './usage.store.js';

/** Sums of ended requests. Amounts are in nanos. */
export interface UsageSums {
  spent: bigint;
  requests: number;
  failures: number;
  givenBack: bigint;
}

interface UsageDay extends UsageSums {
  day: string;
}

export interface Overview {
  balance: { main: bigint; held: bigint; invite: bigint; refundPending: bigint; frozen: boolean };
  days: UsageDay[];
  runningTasks: number;
  running: AccountTask[];
  lastRequests: UsageEntry[];
}

const LAST_REQUESTS = 5;
const SHOWN_RUNNING = 10;
const UNKNOWN_ZONE = '22023';
const NOTHING = {
  main: nanos(0n),
  held: nanos(0n),
  invite: nanos(0n),
  refundPending: nanos(0n),
  frozen: false,
};

/** An overview of an account, however long its history. `zone` is the time zone of its days. @throws ApiError */
export async function readOverview(pool: pg.Pool, accountId: string, zone: string): Promise<Overview> {
  const [balance, days, running, usage] = await Promise.all([
    readBalance(pool, accountId),
    readDays(pool, accountId, zone),
    readRunning(pool, accountId),
    readUsage(pool, { accountId, filter: {} }, { limit: LAST_REQUESTS, after: null }),
  ]);
  return { balance: balance ?? NOTHING, days, ...running, lastRequests: usage.items };
}

const DAYS = {
  name: 'overview-days',
  text: `WITH today AS (SELECT (now() AT TIME ZONE $2)::date AS day),
  first AS (SELECT (day - 29)::timestamp AT TIME ZONE $2 AS at FROM today),
  ended AS (
    SELECT quarter AS at, requests, settled, failures, given_back FROM usage_quarters
    WHERE account_id = $1 AND quarter >= (SELECT at FROM first)
    UNION ALL
    SELECT created_at, 1, coalesce(settled, 0), (state = 'released')::int,
      CASE WHEN state = 'released' THEN released ELSE 0 END
    FROM ${NOT_SUMMED_UP} AND created_at >= (SELECT at FROM first))
  SELECT shown.day::date::text AS day, coalesce(sum(requests), 0)::int AS requests,
    coalesce(sum(failures), 0)::int AS failures, coalesce(sum(settled), 0)::bigint AS spent,
    coalesce(sum(given_back), 0)::bigint AS "givenBack"
  FROM today CROSS JOIN LATERAL generate_series(today.day - 29, today.day, interval '1 day') AS shown (day)
  LEFT JOIN ended ON (ended.at AT TIME ZONE $2)::date = shown.day::date GROUP BY 1 ORDER BY 1`,
};

async function readDays(pool: pg.Pool, accountId: string, zone: string): Promise<UsageDay[]> {
  try {
    return (await pool.query<UsageDay>({ ...DAYS, values: [accountId, zone] })).rows;
  } catch (error) {
    if ((error as { code?: string }).code !== UNKNOWN_ZONE) throw error;
    throw new ApiError('invalid_value', 'zone: is not known. Use the zone of a larger city nearby.', {
      param: 'zone',
      cause: error,
    });
  }
}

/** Running tasks have an index of their own, by account. */
const RUNNING = `FROM tasks t WHERE t.account_id = $1 AND t.state IN ('created', 'submitting', 'submitted', 'unknown')`;

async function readRunning(
  pool: pg.Pool,
  accountId: string,
): Promise<Pick<Overview, 'runningTasks' | 'running'>> {
  const { rows } = await pool.query<{ count: number; newest: string[] | null }>({
    name: 'overview-running',
    text: `SELECT count(*)::int AS count, (array_agg(t.id ORDER BY t.id DESC))[1:${SHOWN_RUNNING}] AS newest ${RUNNING}`,
    values: [accountId],
  });
  const { count, newest } = rows[0]!;
  if (count === 0) return { runningTasks: 0, running: [] };
  const tasks = await pool.query<AccountTask>(`${ACCOUNT_TASKS} WHERE t.id = ANY ($1) ORDER BY t.id DESC`, [
    newest,
  ]);
  return { runningTasks: count, running: tasks.rows };
}
