import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { movableOf, readPendingRewards } from '#ledger/postings/pending-rewards.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { inviteRoutes } from './invites.routes.js';

interface InviteeRow {
  joinedAt: Date;
  rewards: { id: string; ordinal: number; amount: string; takenBack: string; at: string }[];
}

@Controller()
export class InvitesController {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONTROL_PLANE_CONFIG) private readonly config: ControlPlaneConfig,
  ) {}

  @Serves(inviteRoutes.show)
  async show({ actor }: CallOf<typeof inviteRoutes.show>) {
    const { accountId } = actor;
    const { rows } = await this.pool.query<{ code: string; balance: bigint; owed: bigint }>(
      `SELECT a.invite_code AS code, b.invite AS balance,
         coalesce((SELECT owed FROM reward_debts d WHERE d.account_id = a.id), 0) AS owed
       FROM accounts a JOIN customer_balances b ON b.account_id = a.id WHERE a.id = $1`,
      [accountId],
    );
    const { code, balance, owed } = rows[0] as (typeof rows)[number];
    const pending = await readPendingRewards(this.pool, accountId, this.config.inviteRewardWindowMs);
    const movable = movableOf(balance, pending);
    const movableAt = new Map(pending.map((reward) => [reward.rewardId, reward.movableAt]));
    const invitees = await this.invitees(accountId);
    return {
      code,
      link: `${this.config.consoleUrl}/sign-up?invite=${code}`,
      balance,
      movable,
      pending: balance - movable,
      nextMovableAt: pending[0]?.movableAt ?? null,
      owed,
      invitees: invitees.map(({ joinedAt, rewards }, index) => ({
        name: `Invitee ${index + 1}`,
        joinedAt,
        rewards: rewards.map(({ id, ordinal, amount, takenBack, at }) => ({
          ordinal,
          at: new Date(at),
          amount: BigInt(amount),
          takenBack: BigInt(takenBack),
          movableAt: movableAt.get(id) ?? null,
        })),
      })),
    };
  }

  @Serves(inviteRoutes.transfer)
  async transfer({ actor, body }: CallOf<typeof inviteRoutes.transfer>) {
    const { amount, requestId } = body;
    const { inviteRewardWindowMs: windowMs } = this.config;
    const moved = await inTransaction(this.pool, (client) =>
      transferInvite(client, { accountId: actor.accountId, requestId, amount, windowMs }),
    );
    return { ...moved, moved: moved.amount };
  }

  /** In the order in which they came, without their names and addresses. */
  private async invitees(accountId: string): Promise<InviteeRow[]> {
    const { rows } = await this.pool.query<InviteeRow>(
      `SELECT i.created_at AS "joinedAt", coalesce(r.rewards, '[]') AS rewards FROM invitations i
       LEFT JOIN LATERAL (SELECT json_agg(json_build_object('id', w.id, 'ordinal', w.ordinal, 'amount', w.amount::text,
           'takenBack', (SELECT coalesce(sum(c.amount), 0)::text FROM reward_clawbacks c WHERE c.reward_id = w.id),
           'at', w.recorded_at) ORDER BY w.ordinal) AS rewards
         FROM invite_rewards w WHERE w.invitee_account_id = i.invitee_account_id) r ON true
       WHERE i.inviter_account_id = $1 ORDER BY i.created_at, i.invitee_account_id LIMIT ${MOST_INVITEES}`,
      [accountId],
    );
    return rows;
  }
}

/** Shown at once; anyone who invites more sees the first of them. */
const MOST_INVITEES = 1_000;
