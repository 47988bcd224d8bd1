import { Controller } from '@nestjs/common';
import { inTransaction } from '#database/database.js';
import { readInvites } from '#invites/invites.reader.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { inviteRoutes } from './invites.routes.js';

@Controller()
export class InvitesController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(inviteRoutes.show)
  async show({ actor }: CallOf<typeof inviteRoutes.show>) {
    const { accountId } = actor;
    const { invitees, ...invites } = await readInvites(
      this.pool,
      accountId,
      this.config.inviteRewardWindowMs,
    );
    return {
      ...invites,
      link: `${this.config.consoleUrl}/sign-up?invite=${invites.code}`,
      pending: invites.balance - invites.movable,
      invitees: invitees.map((invitee, index) => ({ ...invitee, name: `Invitee ${index + 1}` })),
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
}
