import type pg from 'pg';

/** The progress of a replica. */
export interface Freshness {
  /** Everything committed before is there; null: unknown. */
  readonly asOf: Date | null;
  /** Milliseconds between then and now; Infinity if unknown. */
  readonly behindMs: number;
}

/**
 * Asks a replica for its progress. Every program writes its report every few seconds, so the last commit of a quiet
 * primary is recent. A server that replays nothing is up to date, because it is a primary itself.
 */
export async function freshnessOf(replica: pg.Pool): Promise<Freshness> {
  const { rows } = await replica.query<{ asOf: Date | null; behindMs: number | null }>(
    `SELECT as_of AS "asOf", greatest(0, extract(epoch FROM clock_timestamp() - as_of) * 1000)::float8 AS "behindMs"
     FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_xact_replay_timestamp() ELSE clock_timestamp() END AS as_of) AS seen`,
  );
  const { asOf = null, behindMs = null } = rows[0] ?? {};
  return { asOf, behindMs: behindMs ?? Infinity };
}
