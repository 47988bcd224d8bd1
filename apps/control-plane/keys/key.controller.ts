import { Controller } from '@nestjs/common';
import { KeyService, type KeyRules } from '#people/keys/key.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { keyRoutes } from './key.routes.js';
import { viewKey } from './key.view.js';

@Controller()
export class KeyController extends Using({ service: KeyService }) {
  @Serves(keyRoutes.list)
  async list({ actor, query }: CallOf<typeof keyRoutes.list>) {
    const { items, nextCursor } = await this.service.list(actor.accountId, query);
    return { items: items.map(viewKey), nextCursor };
  }

  @Serves(keyRoutes.create)
  async create(call: CallOf<typeof keyRoutes.create>) {
    const { name, group, ...rules } = call.body;
    const { key, apiKey } = await this.service.create(call, { name, group, ...given(rules) });
    return { ...viewKey(key), apiKey };
  }

  @Serves(keyRoutes.first)
  async first(call: CallOf<typeof keyRoutes.first>) {
    const { key, apiKey } = await this.service.first(call, call.body);
    return { ...viewKey(key), apiKey };
  }

  @Serves(keyRoutes.show)
  async show({ actor, params }: CallOf<typeof keyRoutes.show>) {
    return viewKey(await this.service.find(actor.accountId, params.keyId));
  }

  @Serves(keyRoutes.change)
  async change(call: CallOf<typeof keyRoutes.change>) {
    return viewKey(await this.service.change(call, call.params.keyId, given(call.body)));
  }

  @Serves(keyRoutes.remove)
  async remove(call: CallOf<typeof keyRoutes.remove>): Promise<void> {
    await this.service.remove(call, call.params.keyId);
  }
}

/** Only what was sent: what is left out stays as it is. */
function given<T extends object>(rules: T): Partial<KeyRules> {
  return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
}
