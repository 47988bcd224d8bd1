import type pg from 'pg';

/** How far a replica has come. */
export interface Freshness {
  /** Everything committed before is there; null: nothing is known yet. */
  readonly asOf: Date | null;
  /** Milliseconds between then and now; Infinity where nothing is known. */
  readonly behindMs: number;
}

/**
 * Asks a replica how far it has replayed. Every program writes its report each few seconds, so that the last commit of a
 * quiet primary is not old. A server that replays nothing is as of now: it is a primary itself.
 */
export async function freshnessOf(replica: pg.Pool): Promise<Freshness> {
  const { rows } = await replica.query<{ asOf: Date | null; behindMs: number | null }>(
    `SELECT as_of AS "asOf", greatest(0, extract(epoch FROM clock_timestamp() - as_of) * 1000)::float8 AS "behindMs"
     FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_xact_replay_timestamp() ELSE clock_timestamp() END AS as_of) AS seen`,
  );
  const { asOf = null, behindMs = null } = rows[0] ?? {};
  return { asOf, behindMs: behindMs ?? Infinity };
}
