import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { limitStatements } from '#database/pooled-client.js';
import { atHorizon } from '#ledger/postings/horizon.js';

/**
 * Revenue by every dimension of the reports: a charge counts when it ended, a refund when it was made, a cost when it was
 * posted. Past days are summed once and stored; the same query reads the others.
 */

const DIMENSIONS = `account_id, model_id, group_name, family, channel_id, price_version_id, multiplier_version_id,
  group_rule_version_id`;
const OF_CHARGE = DIMENSIONS.replace(/\w+/g, 'c.$&');
const MEASURES = ['charges', 'failed_charges', 'units', 'gross', 'refunds', 'cost', 'failed_cost'];

/** UTC days in `gaps (begins, ends)`: from the first day, to the day after the last. */
const FACTS = `
  SELECT (c.resolved_at AT TIME ZONE 'UTC')::date AS day, ${OF_CHARGE},
    (c.state = 'settled')::int AS charges, (c.state = 'released')::int AS failed_charges,
    coalesce(c.delivered_units, 0) AS units, c.settled AS gross, 0::bigint AS refunds, 0::bigint AS cost, 0::bigint AS failed_cost
  FROM gaps JOIN charges c ON c.resolved_at >= gaps.begins::timestamp AT TIME ZONE 'UTC'
    AND c.resolved_at < gaps.ends::timestamp AT TIME ZONE 'UTC'
  UNION ALL
  SELECT (t.effective_at AT TIME ZONE 'UTC')::date, ${OF_CHARGE}, 0, 0, 0, 0, r.amount, 0, 0
  FROM charge_refunds r JOIN ledger_transactions t ON t.id = r.transaction_id JOIN charges c ON c.id = r.charge_id
    JOIN gaps ON t.effective_at >= gaps.begins::timestamp AT TIME ZONE 'UTC'
      AND t.effective_at < gaps.ends::timestamp AT TIME ZONE 'UTC'
  UNION ALL
  SELECT k.day, ${OF_CHARGE.replace('c.channel_id', 'k.channel_id')}, 0, 0, 0, 0, 0,
    CASE k.outcome WHEN 'delivered' THEN k.cost ELSE 0 END, CASE k.outcome WHEN 'delivered' THEN 0 ELSE k.cost END
  FROM gaps JOIN charge_costs k ON k.day >= gaps.begins AND k.day < gaps.ends JOIN charges c ON c.id = k.charge_id
  WHERE k.cost > 0`;

const factsOf = (stored: string) => `
  WITH bounds AS (SELECT day, lead(day) OVER (ORDER BY day) AS next FROM (
      SELECT $1::date - 1 AS day UNION SELECT $2::date
      UNION SELECT day FROM revenue_summary_days WHERE day >= $1::date AND day < $2::date) AS days),
    gaps AS MATERIALIZED (SELECT day + 1 AS begins, next AS ends FROM bounds WHERE next > day + 1)
  ${stored} WHERE day >= $1::date AND day < $2::date
  UNION ALL ${FACTS}`;

/**
 * A query of facts of the days from $1 on and before $2, each with its day, dimensions and measures: what is stored of days
 * that have a summary, and what the books say of the others.
 */
export const REVENUE_FACTS = factsOf(`SELECT day, ${DIMENSIONS}, ${MEASURES.join(', ')} FROM revenue_days`);

/** What charts read: the same facts, with the stored ones summed over all accounts, without units and versions. */
export const REVENUE_CHART_FACTS = factsOf(
  `SELECT day, NULL::text AS account_id, model_id, group_name, family, channel_id, NULL::bigint AS price_version_id, NULL::bigint,
    NULL::bigint, charges, failed_charges, 0::numeric AS units, gross, refunds, cost, failed_cost FROM revenue_chart_days`,
);

/** The same for one day, ignoring what is stored for it. */
const DAY_FACTS = `WITH gaps AS MATERIALIZED (SELECT $1::date AS begins, $1::date + 1 AS ends) ${FACTS}`;

/**
 * Summarises the next past UTC day that has all its costs but no summary. A later posting into that day drops its summary in
 * the same transaction; dropping one changes no answer.
 * @returns the day, or null if none is missing
 */
export async function buildNextRevenueDay(pool: pg.Pool): Promise<string | null> {
  if ((await nextDay(pool, null)) === null) return null;
  const horizon = await atHorizon(pool, (_, { at }) => Promise.resolve(at));
  return inTransaction(pool, async (client) => {
    await limitStatements(client, 10 * 60_000);
    await client.query('SET LOCAL enable_seqscan = off');
    // The lock for recording costs: no costs are added to the day in the meantime, and one process builds at a time.
    await client.query('SELECT FROM cost_progress FOR UPDATE');
    const day = await nextDay(client, horizon);
    if (day !== null) await storeDay(client, day);
    return day;
  });
}

/** The first day without a summary that is before the horizon and whose costs are recorded; null: there is none. */
async function nextDay(database: pg.Pool | pg.ClientBase, horizon: string | null): Promise<string | null> {
  const { rows } = await database.query<{ day: string }>(
    `WITH bounds AS (SELECT (begun AT TIME ZONE 'UTC')::date AS first,
         (least(through, $1::timestamptz, clock_timestamp()) AT TIME ZONE 'UTC')::date AS present FROM cost_progress
         WHERE isfinite(through))
     SELECT day::date::text FROM bounds CROSS JOIN LATERAL generate_series(first::timestamp, present - 1, interval '1 day') AS day
     WHERE NOT EXISTS (SELECT FROM revenue_summary_days s WHERE s.day = day.day::date) ORDER BY 1 LIMIT 1`,
    [horizon],
  );
  return rows[0]?.day ?? null;
}

async function storeDay(client: pg.ClientBase, day: string): Promise<void> {
  await client.query('INSERT INTO revenue_summary_days (day) VALUES ($1::date)', [day]);
  await client.query(
    `INSERT INTO revenue_days (day, ${DIMENSIONS}, ${MEASURES.join(', ')})
     SELECT day, ${DIMENSIONS}, ${MEASURES.map((name) => `sum(${name})`).join(', ')} FROM (${DAY_FACTS}) AS facts
     GROUP BY day, ${DIMENSIONS}`,
    [day],
  );
}
