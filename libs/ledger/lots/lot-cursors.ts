import type pg from 'pg';

/** The ledger transaction up to which the lots of an account are up to date. */
export async function readCursors(
  client: pg.ClientBase,
  accountIds: readonly string[],
  lock: '' | 'FOR UPDATE' = '',
): Promise<Map<string, bigint>> {
  return cursorsWhere(client, accountIds, `ORDER BY account_id ${lock}`);
}

/**
 * Locks those that are not stuck: a chunk that was worked out before an account was left may be followed by others that left
 * it out, so that only a player of all of it may move it on.
 */
export function lockGoingCursors(
  client: pg.ClientBase,
  accountIds: readonly string[],
  ofOthers: '' | 'SKIP LOCKED',
): Promise<Map<string, bigint>> {
  return cursorsWhere(client, accountIds, `AND stuck IS NULL ORDER BY account_id FOR UPDATE ${ofOthers}`);
}

async function cursorsWhere(
  client: pg.ClientBase,
  accountIds: readonly string[],
  rest: string,
): Promise<Map<string, bigint>> {
  const { rows } = await client.query<{ accountId: string; throughId: string }>(
    `SELECT account_id AS "accountId", through_id::text AS "throughId" FROM lot_cursors
     WHERE account_id = ANY ($1) ${rest}`,
    [accountIds],
  );
  return new Map(rows.map(({ accountId, throughId }) => [accountId, BigInt(throughId)]));
}
