import type pg from 'pg';

/** How work of a model ended. Null is unknown. */
interface Done {
  /** The share of delivered requests. Every account counts the same. */
  delivered: number | null;
  latencyMs: number | null;
}

interface ModelRecord extends Done {
  /** Past UTC days, oldest first. */
  days: ({ day: string } & Done)[];
}

const DAYS = 30;
/** With fewer accounts, a day would reveal what single customers did. */
const FEWEST_ACCOUNTS = 5;
/** A day is summed up this long after its end, when nearly all of its work has ended. */
const REST_HOURS = 2;
/** Shares are rounded to half a percent, so that nobody can infer request counts by making requests. */
const STEPS = 200;
const THOUSAND = 1_000;

/**
 * Sums up past days. Every account counts the same, so a customer with deliberately failing requests hardly changes a
 * share, however many they send.
 */
const SUM_UP = `INSERT INTO model_days AS d (day, model_id, delivered, latency_ms)
  SELECT day, model_id, floor(avg(delivered) * ${STEPS}) / ${STEPS}, percentile_cont(0.5) WITHIN GROUP (ORDER BY latency)
  FROM (
    SELECT day, model_id, 1 - sum(failures) / sum(requests) AS delivered, sum(latency_ms) / nullif(sum(timed), 0) AS latency
    FROM usage_days
    WHERE day >= (now() AT TIME ZONE 'UTC')::date - ${DAYS}
      AND day < (now() AT TIME ZONE 'UTC' - interval '${REST_HOURS} hours')::date AND model_id <> ''
    GROUP BY day, model_id, account_id HAVING sum(requests) > 0) AS by_account
  GROUP BY day, model_id HAVING count(*) >= ${FEWEST_ACCOUNTS}
  ON CONFLICT (model_id, day) DO UPDATE SET delivered = excluded.delivered, latency_ms = excluded.latency_ms
    WHERE (d.delivered, d.latency_ms) IS DISTINCT FROM (excluded.delivered, excluded.latency_ms)`;

/** Adds the last days to the records of models. A repeat changes nothing. */
export async function sumUpModelDays(pool: pg.Pool): Promise<void> {
  await pool.query(SUM_UP);
}

/** Its cost does not depend on usage: one row per day, found by the key of the table. */
const FIND = {
  name: 'model-days',
  text: `SELECT shown.day::date::text AS day, delivered::float8 AS delivered, latency_ms AS "latencyMs"
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t
    CROSS JOIN LATERAL generate_series(t.today - ${DAYS}, t.today - 1, interval '1 day') AS shown (day)
    LEFT JOIN model_days d ON d.model_id = $1 AND d.day = shown.day::date ORDER BY shown.day`,
};

/** How often a model delivered lately, and how long it took, over all accounts. */
export async function readModelRecord(pool: pg.Pool, model: string): Promise<ModelRecord> {
  const { rows } = await pool.query<ModelRecord['days'][number]>({ ...FIND, values: [model] });
  return recordOf(rows);
}

/** Several models together: their average per day. It reveals no more than the records of the models. */
const FIND_ALL = {
  name: 'model-days-together',
  text: `SELECT of.part, shown.day::date::text AS day, avg(delivered)::float8 AS delivered, round(avg(latency_ms))::float8 AS "latencyMs"
    FROM unnest($1::text[], $2::text[]) AS of (model, part)
    CROSS JOIN (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t
    CROSS JOIN LATERAL generate_series(t.today - ${DAYS}, t.today - 1, interval '1 day') AS shown (day)
    LEFT JOIN model_days d ON d.model_id = of.model AND d.day = shown.day::date
    GROUP BY of.part, shown.day ORDER BY of.part, shown.day`,
};

/** The records of groups of models, such as types. */
export async function readRecords<Part extends string>(
  pool: pg.Pool,
  models: readonly { id: string; part: Part }[],
): Promise<Map<Part, ModelRecord>> {
  const values = [models.map(({ id }) => id), models.map(({ part }) => part)];
  const { rows } = await pool.query<ModelRecord['days'][number] & { part: Part }>({ ...FIND_ALL, values });
  const parts = Map.groupBy(rows, ({ part }) => part);
  return new Map(
    [...parts].map(([part, days]) => [part, recordOf(days.map(({ part: _, ...day }) => roundedDown(day)))]),
  );
}

function recordOf(days: ModelRecord['days']): ModelRecord {
  const latencyMs = average(days.map((day) => day.latencyMs));
  return {
    ...roundedDown({
      delivered: average(days.map((day) => day.delivered)),
      latencyMs: latencyMs === null ? null : Math.round(latencyMs),
    }),
    days,
  };
}

/** Anything below 100 % is not shown as 100 %. */
function roundedDown<T extends Done>(done: T): T {
  const { delivered } = done;
  return { ...done, delivered: delivered === null ? null : Math.floor(delivered * THOUSAND) / THOUSAND };
}

function average(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
