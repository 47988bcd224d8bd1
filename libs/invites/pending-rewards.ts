import type pg from 'pg';

/** A reward that cannot be transferred yet, because its payment may still be reversed. */
export interface PendingReward {
  rewardId: string;
  /** The rest of it, in nanos. */
  amount: bigint;
  movableAt: Date;
}

/** The rewards of an inviter that are younger than the window, in the order in which they can be transferred. */
export async function readPendingRewards(
  client: pg.ClientBase | pg.Pool,
  accountId: string,
  windowMs: number,
): Promise<PendingReward[]> {
  const { rows } = await client.query<PendingReward>(
    `SELECT * FROM (
       SELECT r.id AS "rewardId", r.recorded_at + make_interval(secs => $2::float8 / 1000) AS "movableAt",
         (r.amount - (SELECT coalesce(sum(c.amount), 0) FROM reward_clawbacks c WHERE c.reward_id = r.id))::bigint AS amount
       FROM invite_rewards r WHERE r.inviter_account_id = $1) AS rewards
     WHERE "movableAt" > clock_timestamp() AND amount > 0 ORDER BY "movableAt"`,
    [accountId, windowMs],
  );
  return rows;
}
