import { Controller, Inject } from '@nestjs/common';
import { AccountService } from '#people/accounts/account.service.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import { type CallOf, Serves } from '../http/route.js';
import { accountRoutes } from './account.routes.js';

@Controller()
export class AccountController {
  constructor(
    @Inject(AccountReader) private readonly reader: AccountReader,
    @Inject(AccountService) private readonly service: AccountService,
  ) {}

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
