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
 * Locks those that are not stuck. A chunk computed before an account got stuck may be followed by chunks without it, so only a
 * player of everything may advance it.
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
  const { rows } = await client.query<{ accountId: string; throughId: bigint }>(
    `SELECT account_id AS "accountId", through_id AS "throughId" FROM lot_cursors
     WHERE account_id = ANY ($1) ${rest}`,
    [accountIds],
  );
  return new Map(rows.map(({ accountId, throughId }) => [accountId, throughId]));
}
