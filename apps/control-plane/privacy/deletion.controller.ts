import { Controller } from '@nestjs/common';
import { AccountDeletionService } from '#people/accounts/account-deletion.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { Entrance } from '../people/entrance.js';
import { deletionRoutes as routes } from './deletion.routes.js';

@Controller()
export class DeletionController extends Using({ service: AccountDeletionService, entrance: Entrance }) {
  @Serves(routes.show)
  async show({ actor }: CallOf<typeof routes.show>) {
    return this.service.preview(actor.accountId);
  }

  @Serves(routes.request)
  async request(call: CallOf<typeof routes.request>) {
    const deletion = await this.service.request(call.actor, call.body, call.requestId);
    this.entrance.leave(call.reply);
    return { ...deletion, state: deletion.state as 'requested' };
  }

  @Serves(routes.ask)
  async ask(call: CallOf<typeof routes.ask>) {
    const { actor, requestId, params, body } = call;
    return {
      approvalId: await this.service.ask({ actor, requestId, side: 'staff' }, { ...params, ...body }),
    };
  }

  @Serves(routes.cancel)
  async cancel({ actor, params, body, requestId }: CallOf<typeof routes.cancel>): Promise<void> {
    await this.service.cancel({ by: `user:${actor.userId}`, actor, requestId, ...params }, body.reason);
  }
}
