import { Controller } from '@nestjs/common';
import type { Actor } from '#identity/role.js';
import { AccountService } from '#people/accounts/account.service.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import type { StaffOperation } from '#people/accounts/freezing.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { supportRoutes } from './account.routes.js';

/** What support does to an account. */
@Controller()
export class AccountActionsController extends Using({ service: AccountService, reader: AccountReader }) {
  @Serves(supportRoutes.freeze)
  async freeze({ params, body, ...call }: CallOf<typeof supportRoutes.freeze>) {
    await this.service.freeze(operationOf(call, params), body.reason);
    return this.reader.show(params.accountId);
  }

  @Serves(supportRoutes.unfreeze)
  async unfreeze({ params, body, ...call }: CallOf<typeof supportRoutes.unfreeze>) {
    await this.service.unfreeze(operationOf(call, params), body.note);
    return this.reader.show(params.accountId);
  }

  @Serves(supportRoutes.revokeSessions)
  async revokeSessions({ params, ...call }: CallOf<typeof supportRoutes.revokeSessions>) {
    return { revoked: await this.service.revokeSessions(operationOf(call, params)) };
  }
}

function operationOf(
  { actor, requestId }: { actor: Actor; requestId: string },
  { accountId }: { accountId: string },
): StaffOperation {
  return { actor, by: `user:${actor.userId}`, accountId, requestId };
}
