import type pg from 'pg';

/**
 * Whether an adjustment or a write-off needs a second person that it does not have: small ones of an account add up over a
 * day, whoever made them alone. The caller has locked the account's balances, so that those of the same moment are counted.
 */
export async function isTooMuchAlone(
  client: pg.ClientBase,
  wanted: { accountId: string; amount: bigint; approvedBy: string | null; aloneLimit: bigint },
): Promise<boolean> {
  if (wanted.approvedBy !== null) return false;
  const { rows } = await client.query<{ sum: string }>(
    `SELECT coalesce(sum(amount), 0)::text AS sum FROM (
       SELECT abs(amount) AS amount, account_id, approved_by, recorded_at FROM adjustments
       UNION ALL SELECT abs(amount), account_id, approved_by, recorded_at FROM write_offs) AS made
     WHERE account_id = $1 AND approved_by IS NULL AND recorded_at > now() - interval '1 day'`,
    [wanted.accountId],
  );
  const size = wanted.amount < 0n ? -wanted.amount : wanted.amount;
  return BigInt(rows[0]?.sum ?? 0) + size > wanted.aloneLimit;
}

/**
 * Nanos that one person may adjust an account by alone in a day: what billing was configured with when it started, stored, so
 * that every program goes by the same.
 */
export async function readAloneLimit(client: Pick<pg.ClientBase, 'query'>): Promise<bigint> {
  const { rows } = await client.query<{ amount: string }>(
    `SELECT amount::text FROM desk_limits WHERE name = 'adjustment'`,
  );
  return BigInt(rows[0]?.amount ?? 0);
}

/** Stores it; where several billings start with different ones, the last one's is that of all. */
export async function recordAloneLimit(database: Pick<pg.Pool, 'query'>, amount: bigint): Promise<void> {
  await database.query(
    `UPDATE desk_limits SET amount = $1, recorded_at = now() WHERE name = 'adjustment' AND amount <> $1`,
    [amount],
  );
}
