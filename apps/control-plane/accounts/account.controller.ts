import { Controller } from '@nestjs/common';
import { AccountService } from '#people/accounts/account.service.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { accountRoutes } from './account.routes.js';

@Controller()
export class AccountController extends Using({ reader: AccountReader, service: AccountService }) {
  @Serves(accountRoutes.show)
  show({ actor }: CallOf<typeof accountRoutes.show>) {
    return this.reader.show(actor.accountId);
  }

  @Serves(accountRoutes.change)
  async change({ actor, body, requestId }: CallOf<typeof accountRoutes.change>) {
    const { accountId } = actor;
    await this.service.change({ by: `user:${actor.userId}`, accountId, requestId }, body);
    return this.reader.show(accountId);
  }
}
