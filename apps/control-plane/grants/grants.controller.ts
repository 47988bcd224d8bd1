import { Controller } from '@nestjs/common';
import { groupsOfAccount } from '#groups/account-groups.js';
import { findAccount } from '#identity/account.store.js';
import { ApiError } from '#platform/errors.js';
import { MailSender } from '#mail/mail.sender.js';
import { GroupGrants } from '#support/group-grants.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { staff } from '../tickets/support-tickets.controller.js';
import { grantRoutes as routes } from './grants.routes.js';

type View = AnswerOf<typeof routes.list>;

/** The groups in which accounts can create keys. */
@Controller()
export class GrantsController extends Using({ grants: GroupGrants, mail: MailSender, pool: POOL }) {
  @Serves(routes.own)
  async own({ actor }: CallOf<typeof routes.own>) {
    const groups = await groupsOfAccount(this.pool, actor.accountId);
    return { groups: groups.map(({ group }) => group) };
  }

  @Serves(routes.list)
  list({ params }: CallOf<typeof routes.list>) {
    return this.view(params.accountId);
  }

  @Serves(routes.grant)
  async grant(call: CallOf<typeof routes.grant>) {
    await this.grants.grant(staff(call), call.params, call.body.ticketId);
    this.mail.wake();
    return this.view(call.params.accountId);
  }

  @Serves(routes.withdraw)
  async withdraw(call: CallOf<typeof routes.withdraw>) {
    await this.grants.withdraw(staff(call), call.params);
    return this.view(call.params.accountId);
  }

  private async view(accountId: string): Promise<View> {
    if (!(await findAccount(this.pool, accountId)))
      throw new ApiError('not_found', 'There is no such account.');
    return { accountId, groups: await groupsOfAccount(this.pool, accountId) };
  }
}
