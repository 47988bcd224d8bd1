import type pg from 'pg';

/** The charges to record costs for: those that ended within a time, or the given ones, whose cost was unknown or not billed before. */
export type ChargesToCost =
  | { kind: 'ended'; from: string; to: string }
  | { kind: 'known' | 'late'; ids: readonly string[] };

export interface RecordedCosts {
  /** Summed by channel; nanos. */
  costs: { channel: string; failed: boolean; cost: bigint }[];
  count: number;
  unknown: number;
}

/**
 * Delivered work costs what was delivered, even beyond its hold or after its charge had been released. Failed work costs what was
 * requested if the upstream bills failures, or if its task says that it may be billed; for metered work only the input, because the
 * output is unknown.
 */
const ENDED = `
  SELECT c.id, c.account_id, c.model_id, c.resolved_at, coalesce(c.channel_id, l.channel_id, t.channel_id) AS channel_id,
    coalesce(m.alias_of, c.model_id) AS priced_model, c.state = 'settled' AS delivered,
    t.id IS NOT NULL OR l.charge_id IS NOT NULL AS billed,
    CASE c.state WHEN 'settled' THEN c.delivered_units ELSE coalesce(l.units, c.units) END AS units,
    CASE WHEN jsonb_typeof(c.lines) = 'array' THEN
      CASE WHEN c.state = 'settled' THEN c.delivered_lines WHEN l.charge_id IS NOT NULL THEN l.lines
        ELSE jsonb_path_query_array(c.lines, '$[*] ? (!(@.kind like_regex "output$"))') END END AS lines
  FROM charges c
  LEFT JOIN tasks t ON t.charge_id = c.id AND t.unbilled_cost IS NOT NULL AND c.state = 'released'
  LEFT JOIN late_deliveries l ON l.charge_id = c.id AND c.state = 'released'
  LEFT JOIN models m ON m.id = c.model_id
  WHERE c.state IN ('settled', 'released') AND coalesce(c.channel_id, l.channel_id, t.channel_id) IS NOT NULL`;

const PRICED = `
  SELECT e.*, v.id AS version_id, CASE
      WHEN NOT e.delivered AND NOT e.billed AND NOT v.bills_failures THEN 0
      WHEN e.lines IS NULL THEN ceil(e.units * v.unit_cost * 1000000000)
      ELSE lines_cost(e.lines, v.input_cost, v.cached_input_cost, v.output_cost, v.media_costs) END AS cost
  FROM ended e
  LEFT JOIN versions v ON v.channel_id = e.channel_id AND v.model_id = e.priced_model
    AND e.resolved_at >= v.effective_from AND e.resolved_at < v.until
    AND (CASE WHEN e.lines IS NULL THEN v.unit_cost ELSE v.input_cost END) IS NOT NULL`;

const OUTCOMES = {
  ended: `CASE WHEN delivered THEN 'delivered' ELSE 'failed' END`,
  known: `CASE WHEN delivered THEN 'delivered' ELSE 'failed' END`,
  late: `'late'`,
} as const;

/** Reads, prices and writes in one statement. The few versions stay in memory. */
function recording(kind: ChargesToCost['kind']): string {
  const which =
    kind === 'ended'
      ? 'c.resolved_at >= $3::timestamptz AND c.resolved_at < $4::timestamptz'
      : 'c.id = ANY ($3)';
  return `WITH versions AS MATERIALIZED (SELECT * FROM upstream_cost_times),
    ended AS (${ENDED} AND ${which}),
    priced AS MATERIALIZED (${PRICED}),
    written AS (
      INSERT INTO charge_costs (charge_id, outcome, account_id, channel_id, model_id, units, cost, cost_version_id,
        transaction_id, ended_at, day)
      SELECT id, ${OUTCOMES[kind]}, account_id, channel_id, model_id, coalesce(lines_units(lines), units), cost, version_id,
        CASE WHEN cost > 0 THEN $1::bigint END, resolved_at, $2::date FROM priced WHERE cost IS NOT NULL
      RETURNING channel_id, outcome, cost),
    missed AS (
      INSERT INTO unknown_costs (charge_id, channel_id, model_id, metered, ended_at)
      SELECT id, channel_id, priced_model, lines IS NOT NULL, resolved_at FROM priced WHERE cost IS NULL
      ON CONFLICT (charge_id) DO NOTHING RETURNING 1)
    SELECT channel_id AS channel, outcome <> 'delivered' AS failed, sum(cost)::text AS cost, count(*)::int AS count
      FROM written GROUP BY 1, 2
    UNION ALL SELECT NULL, NULL, '0', count(*)::int FROM missed ORDER BY 1, 2`;
}

const RECORDING = { ended: recording('ended'), known: recording('known'), late: recording('late') };

/**
 * Writes the costs of charges under the ledger transaction that will post them, and notes charges with unknown cost. Runs in
 * the caller's transaction, which holds the progress lock.
 */
export async function recordCosts(
  client: pg.ClientBase,
  source: ChargesToCost,
  { transactionId, day }: { transactionId: bigint; day: string },
): Promise<RecordedCosts> {
  const which = source.kind === 'ended' ? [source.from, source.to] : [source.ids];
  const { rows } = await client.query<{
    channel: string | null;
    failed: boolean;
    cost: string;
    count: number;
  }>(RECORDING[source.kind], [transactionId, day, ...which]);
  const recorded: RecordedCosts = { costs: [], count: 0, unknown: 0 };
  for (const { channel, failed, cost, count } of rows) {
    if (channel === null) recorded.unknown = count;
    else {
      recorded.count += count;
      recorded.costs.push({ channel, failed, cost: BigInt(cost) });
    }
  }
  return recorded;
}
