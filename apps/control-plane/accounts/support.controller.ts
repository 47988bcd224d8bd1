import { Controller } from '@nestjs/common';
import { KeyService } from '#people/keys/key.service.js';
import { RolesService } from '#people/roles.service.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { viewKey } from '../keys/key.view.js';
import { supportRoutes } from './account.routes.js';

/** An account has at most this many keys. */
const ALL_KEYS = 200;

@Controller()
export class SupportController extends Using({
  reader: AccountReader,
  keys: KeyService,
  people: RolesService,
}) {
  @Serves(supportRoutes.search)
  search({ query }: CallOf<typeof supportRoutes.search>) {
    return this.reader.search(query);
  }

  @Serves(supportRoutes.show)
  async show({ params: { accountId } }: CallOf<typeof supportRoutes.show>) {
    const account = await this.reader.show(accountId);
    const [person, keys] = await Promise.all([
      this.people.ofAccount(accountId),
      this.keys.list(accountId, { limit: ALL_KEYS }),
    ]);
    return { account, person, keys: keys.items.map(viewKey) };
  }
}
