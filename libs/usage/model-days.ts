import type pg from 'pg';

/** How work of a model ended. Null is unknown. */
interface Done {
  /** The share that was delivered, to a thousandth. */
  delivered: number | null;
  latencyMs: number | null;
}

interface ModelRecord extends Done {
  /** UTC days, the oldest first, up to today. */
  days: ({ day: string } & Done)[];
}

/** Everybody may read it: with fewer requests it would say what single customers did. */
const FEWEST = 10;
const DAYS = 30;
const THOUSANDTHS = 1_000;

interface SumsOfDay {
  day: string;
  requests: number;
  failures: number;
  latencyMs: number;
  timed: number;
}

/** It costs the same whatever was called: a row for each day, by the key of the table. */
const FIND = {
  name: 'model-days',
  text: `SELECT shown.day::date::text AS day, coalesce(requests, 0)::float8 AS requests, coalesce(failures, 0)::float8 AS failures,
      coalesce(latency_ms, 0)::float8 AS "latencyMs", coalesce(timed, 0)::float8 AS timed
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t
    CROSS JOIN LATERAL generate_series(t.today - ${DAYS - 1}, t.today, interval '1 day') AS shown (day)
    LEFT JOIN model_days d ON d.model_id = $1 AND d.day = shown.day::date ORDER BY shown.day`,
};

/** How often work of a model was delivered lately, and how long it took, over all accounts. */
export async function readModelRecord(pool: pg.Pool, model: string): Promise<ModelRecord> {
  const { rows } = await pool.query<SumsOfDay>({ ...FIND, values: [model] });
  return { ...doneOf(rows), days: rows.map((sums) => ({ day: sums.day, ...doneOf([sums]) })) };
}

function doneOf(days: readonly SumsOfDay[]): Done {
  const sum = (of: (sums: SumsOfDay) => number) => days.reduce((total, sums) => total + of(sums), 0);
  const requests = sum((sums) => sums.requests);
  const timed = sum((sums) => sums.timed);
  const delivered = requests - sum((sums) => sums.failures);
  return {
    // Rounded down: what is not perfect does not read so.
    delivered: requests < FEWEST ? null : Math.floor((delivered / requests) * THOUSANDTHS) / THOUSANDTHS,
    latencyMs: timed < FEWEST ? null : Math.round(sum(({ latencyMs }) => latencyMs) / timed),
  };
}
