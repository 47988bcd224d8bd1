import type pg from 'pg';
import { type PendingReward, readPendingRewards } from './pending-rewards.js';
import { movableOf } from './reward.js';

/** A reward as its inviter sees it, nanos. */
interface ReadReward {
  readonly ordinal: number;
  readonly at: Date;
  readonly amount: bigint;
  readonly takenBack: bigint;
  /** Null: it can be transferred. */
  readonly movableAt: Date | null;
}

interface Invitee {
  readonly joinedAt: Date;
  /** By ordinal. */
  readonly rewards: ReadReward[];
}

/** The invites of an account, nanos. */
interface ReadInvites {
  readonly code: string;
  /** The invite balance, and the part that can be transferred to main now. */
  readonly balance: bigint;
  readonly movable: bigint;
  /** When more can be transferred; null: everything can be now. */
  readonly nextMovableAt: Date | null;
  /** Rewards of reversed payments that no balance covered. */
  readonly owed: bigint;
  /** In the order in which they joined, without names and addresses. */
  readonly invitees: Invitee[];
}

/** The longest list. Anyone who invites more sees the first of them. */
const MOST_INVITEES = 1_000;

/** @param windowMs how long a reward waits before it can be transferred */
export async function readInvites(
  database: pg.Pool,
  accountId: string,
  windowMs: number,
): Promise<ReadInvites> {
  const { rows } = await database.query<{ code: string; balance: bigint; owed: bigint }>(
    `SELECT a.invite_code AS code, b.invite AS balance,
       coalesce((SELECT owed FROM reward_debts d WHERE d.account_id = a.id), 0) AS owed
     FROM accounts a JOIN customer_balances b ON b.account_id = a.id WHERE a.id = $1`,
    [accountId],
  );
  const { code, balance, owed } = rows[0]!;
  const pending = await readPendingRewards(database, accountId, windowMs);
  const nextMovableAt = pending[0]?.movableAt ?? null;
  const movable = movableOf(balance, pending);
  return {
    code,
    balance,
    movable,
    nextMovableAt,
    owed,
    invitees: await invitees(database, accountId, pending),
  };
}

interface InviteeRow {
  joinedAt: Date;
  rewards: { id: string; ordinal: number; amount: string; takenBack: string; at: string }[];
}

/** Rewards are only read of the accounts that are shown. */
const INVITEES = `SELECT i.created_at AS "joinedAt", coalesce(r.rewards, '[]') AS rewards FROM (
    SELECT created_at, invitee_account_id FROM invitations WHERE inviter_account_id = $1
    ORDER BY created_at, invitee_account_id LIMIT ${MOST_INVITEES}) AS i
  LEFT JOIN LATERAL (SELECT json_agg(json_build_object('id', w.id, 'ordinal', w.ordinal, 'amount', w.amount::text,
      'takenBack', (SELECT coalesce(sum(c.amount), 0)::text FROM reward_clawbacks c WHERE c.reward_id = w.id),
      'at', w.recorded_at) ORDER BY w.ordinal) AS rewards
    FROM invite_rewards w WHERE w.invitee_account_id = i.invitee_account_id) r ON true
  ORDER BY i.created_at, i.invitee_account_id`;

async function invitees(
  database: pg.Pool,
  accountId: string,
  pending: readonly PendingReward[],
): Promise<Invitee[]> {
  const { rows } = await database.query<InviteeRow>(INVITEES, [accountId]);
  const movableAt = new Map(pending.map((reward) => [reward.rewardId, reward.movableAt]));
  return rows.map(({ joinedAt, rewards }) => ({
    joinedAt,
    rewards: rewards.map(({ id, ordinal, amount, takenBack, at }) => ({
      ordinal,
      at: new Date(at),
      amount: BigInt(amount),
      takenBack: BigInt(takenBack),
      movableAt: movableAt.get(id) ?? null,
    })),
  }));
}
