import type pg from 'pg';
import { chargeIdsOf } from '#ledger/charges/charge-ids.js';
import { USAGE_COLUMNS, type UsageEntry } from './usage.store.js';

interface FoundRequest extends UsageEntry {
  accountId: string;
}

/** An upstream may use the same id for tasks of several accounts. More results are never useful. */
const MOST_FOUND = 20;

/** Each part uses its own index. */
const FIND = {
  name: 'request-find',
  text: `WITH named AS MATERIALIZED (
      SELECT unnest($2::text[]) AS id
      UNION SELECT charge_id FROM tasks WHERE id = $1
      UNION (SELECT charge_id FROM tasks WHERE upstream_id = $1 AND ($3::text IS NULL OR account_id = $3) LIMIT ${MOST_FOUND}))
    SELECT ${USAGE_COLUMNS}, c.account_id AS "accountId" FROM charges c LEFT JOIN models m ON m.id = c.model_id
    WHERE c.id = ANY (ARRAY(SELECT id FROM named)) AND ($3::text IS NULL OR c.account_id = $3)
    ORDER BY c.id = $1 DESC, c.id DESC LIMIT ${MOST_FOUND}`,
};

/**
 * The requests for an id, an exact match first, then the newest: the id of a request with each model that was tried, of
 * a charge, of a task, or of a task upstream. Limited to an account, if one is given.
 */
export async function findRequests(
  pool: pg.Pool,
  id: string,
  accountId: string | null,
): Promise<FoundRequest[]> {
  return (await pool.query<FoundRequest>({ ...FIND, values: [id, chargeIdsOf(id), accountId] })).rows;
}
