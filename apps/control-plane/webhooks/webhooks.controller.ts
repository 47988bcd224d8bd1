import { Controller } from '@nestjs/common';
import { DeliveryLog } from '#webhooks/delivery.log.js';
import { EndpointService } from '#webhooks/endpoint.service.js';
import { WebhookEndpoint } from '#webhooks/webhook-endpoint.entity.js';
import { WebhookSender } from '#webhooks/webhook.sender.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { webhookRoutes as routes } from './webhooks.routes.js';

/** The webhooks of the person's own account. */
@Controller()
export class WebhooksController extends Using({
  service: EndpointService,
  log: DeliveryLog,
  sender: WebhookSender,
}) {
  @Serves(routes.list)
  async list({ actor }: CallOf<typeof routes.list>) {
    return { items: (await this.service.list(actor.accountId)).map(viewEndpoint) };
  }

  @Serves(routes.create)
  async create(call: CallOf<typeof routes.create>) {
    return viewEndpoint(await this.service.create(call, call.body));
  }

  @Serves(routes.show)
  async show({ actor, params }: CallOf<typeof routes.show>) {
    return viewEndpoint(await this.service.find(actor.accountId, params.endpointId));
  }

  @Serves(routes.change)
  async change(call: CallOf<typeof routes.change>) {
    return viewEndpoint(await this.service.change(call, call.params.endpointId, call.body));
  }

  @Serves(routes.remove)
  async remove(call: CallOf<typeof routes.remove>): Promise<void> {
    await this.service.remove(call, call.params.endpointId);
  }

  @Serves(routes.rotateSecret)
  async rotateSecret(call: CallOf<typeof routes.rotateSecret>) {
    const { params, query } = call;
    return viewEndpoint(await this.service.rotateSecret(call, params.endpointId, query.receiverHas));
  }

  @Serves(routes.ping)
  async ping(call: CallOf<typeof routes.ping>) {
    const delivery = await this.log.ping(endpointOf(call));
    this.sender.wake();
    return delivery;
  }

  @Serves(routes.deliveries)
  async deliveries(call: CallOf<typeof routes.deliveries>) {
    return this.log.list(endpointOf(call), call.query);
  }

  @Serves(routes.delivery)
  async delivery(call: CallOf<typeof routes.delivery>) {
    return this.log.find(endpointOf(call), call.params.deliveryId);
  }

  @Serves(routes.replay)
  async replay(call: CallOf<typeof routes.replay>) {
    const delivery = await this.log.replay(endpointOf(call), call.params.deliveryId);
    this.sender.wake();
    return delivery;
  }

  @Serves(routes.replaySince)
  async replaySince(call: CallOf<typeof routes.replaySince>) {
    const { since, states } = call.body;
    const replayed = await this.log.replaySince(endpointOf(call), since, states);
    this.sender.wake();
    return { replayed };
  }
}

function endpointOf({ actor, params }: { actor: { accountId: string }; params: { endpointId: string } }) {
  return { accountId: actor.accountId, endpointId: params.endpointId };
}

function viewEndpoint(endpoint: WebhookEndpoint) {
  return { ...endpoint, enabled: endpoint.disabledAt === null };
}
