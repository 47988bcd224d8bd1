import type pg from 'pg';
import type { ControlItem, ControlResult } from '../control.js';
import type { FoundState } from '../found-states.js';

export interface ItemQuery {
  /**
   * Selects what is wrong: `subject` and one of the control's `state`s as text, `details` as jsonb of texts, and the related ledger transactions,
   * either as `transaction_ids` bigint[] or by `charge_id`, whose postings are then named; either can be null. `at`, if
   * selected, is when it happened, for controls with a window.
   */
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly limit: number;
  messageOf(found: Pick<ControlItem, 'subject' | 'state' | 'details'>): string;
}

interface FoundRow {
  total: number;
  states: Record<string, number>;
  subject: string;
  state: FoundState;
  details: Record<string, string | null>;
  transactionIds: bigint[];
  at: string | null;
}

/**
 * Reads the items of a control by subject, and counts all of them, also by state. Transactions are looked up only for named
 * items.
 */
export async function findItems(client: pg.ClientBase, query: ItemQuery): Promise<ControlResult> {
  const { rows } = await client.query<FoundRow>(
    `WITH found AS MATERIALIZED (${query.sql}),
       named AS (SELECT * FROM found ORDER BY subject, state LIMIT ${query.limit})
     SELECT (SELECT count(*) FROM found)::int AS total,
       (SELECT jsonb_object_agg(s.state, s.count) FROM (SELECT f.state, count(*) FROM found f GROUP BY 1) AS s) AS states, subject, state, details, to_jsonb(named) ->> 'at' AS at,
       (coalesce(transaction_ids, '{}') || ARRAY(SELECT t.id FROM ledger_transactions t WHERE t.reference
          IN ('charge:' || named.charge_id || ':hold', 'charge:' || named.charge_id || ':resolve') ORDER BY t.id)) AS "transactionIds"
     FROM named ORDER BY subject, state`,
    [...query.values],
  );
  const items = rows.map(({ total: _, states: __, ...item }) => ({
    ...item,
    message: query.messageOf(item),
  }));
  return { count: rows[0]?.total ?? 0, states: rows[0]?.states ?? {}, items };
}

/** SQL that writes a column of nanos as an exact decimal string with its unit. A division of numeric would round. */
export function crd(column: string): string {
  return `trim_scale(${column} * 0.000000001)::text || ' CRD'`;
}

/** SQL that writes a time as ISO 8601 in UTC. */
export function iso(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
