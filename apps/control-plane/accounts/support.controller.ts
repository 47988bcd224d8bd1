import { Controller, Inject } from '@nestjs/common';
import type { Actor } from '#identity/role.js';
import { KeyService } from '#people/keys/key.service.js';
import { RolesService } from '#people/roles.service.js';
import { AccountService } from '#people/accounts/account.service.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import type { AccountView } from '#people/accounts/account.view.js';
import type { StaffOperation } from '#people/accounts/freezing.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { viewKey } from '../keys/key.view.js';
import { viewPerson } from '../people/person.view.js';
import { supportRoutes } from './account.routes.js';

/** An account has at most so many keys. */
const ALL_KEYS = 200;

@Controller()
export class SupportController {
  constructor(
    @Inject(AccountReader) private readonly reader: AccountReader,
    @Inject(AccountService) private readonly service: AccountService,
    @Inject(KeyService) private readonly keys: KeyService,
    @Inject(RolesService) private readonly people: RolesService,
  ) {}

  @Serves(supportRoutes.search)
  search({ query }: CallOf<typeof supportRoutes.search>): Promise<AnswerOf<typeof supportRoutes.search>> {
    return this.reader.search(query);
  }

  @Serves(supportRoutes.show)
  async show({
    params: { accountId },
  }: CallOf<typeof supportRoutes.show>): Promise<AnswerOf<typeof supportRoutes.show>> {
    const account = await this.reader.show(accountId);
    const [person, keys] = await Promise.all([
      this.people.ofAccount(accountId),
      this.keys.list(accountId, { limit: ALL_KEYS }),
    ]);
    return { account, person: person && viewPerson(person), keys: keys.items.map(viewKey) };
  }

  @Serves(supportRoutes.freeze)
  async freeze({ params, body, ...call }: CallOf<typeof supportRoutes.freeze>): Promise<AccountView> {
    await this.service.freeze(operationOf(call, params), body.reason);
    return this.reader.show(params.accountId);
  }

  @Serves(supportRoutes.unfreeze)
  async unfreeze({ params, body, ...call }: CallOf<typeof supportRoutes.unfreeze>): Promise<AccountView> {
    await this.service.unfreeze(operationOf(call, params), body.note);
    return this.reader.show(params.accountId);
  }

  @Serves(supportRoutes.revokeSessions)
  async revokeSessions({
    params,
    ...call
  }: CallOf<typeof supportRoutes.revokeSessions>): Promise<AnswerOf<typeof supportRoutes.revokeSessions>> {
    return { revoked: await this.service.revokeSessions(operationOf(call, params)) };
  }
}

function operationOf(
  { actor, requestId }: { actor: Actor; requestId: string },
  { accountId }: { accountId: string },
): StaffOperation {
  return { actor, by: `user:${actor.userId}`, accountId, requestId };
}
