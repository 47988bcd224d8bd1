import { Module } from '@nestjs/common';
import { closing, providedBy, running, constructed } from '#platform/wiring.js';
import { UpstreamConnections } from '#upstream/connections.js';
import { MailSender } from '#mail/mail.sender.js';
import { DeliveryLog } from '#webhooks/delivery.log.js';
import { DeliveryQueue } from '#webhooks/delivery.queue.js';
import { EndpointService } from '#webhooks/endpoint.service.js';
import { WebhookSender } from '#webhooks/webhook.sender.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';
import { NoticesController } from './notices.controller.js';
import { WebhooksController } from './webhooks.controller.js';

interface SenderParts extends Shared {
  queue: DeliveryQueue;
  connections: UpstreamConnections;
  mail: MailSender;
}

function newSender({ config, mail, ...parts }: SenderParts): WebhookSender {
  const { log } = parts;
  return new WebhookSender({
    ...parts,
    config: config.webhooks,
    secrets: config.secrets,
    onSwitchedOff: async ({ endpointId, accountId, url, reason }) => {
      const { host } = new URL(url);
      log.warn(
        { endpointId, accountId, host, reason },
        'a webhook endpoint was switched off: its deliveries fail',
      );
      mail.wake();
    },
  });
}

@Module({
  controllers: [WebhooksController, NoticesController],
  providers: [
    constructed(UpstreamConnections),
    providedBy(DeliveryQueue, ({ pool, config }: Shared) => new DeliveryQueue(pool, config.webhooks), SHARED),
    providedBy(DeliveryLog, ({ pool, config }: Shared) => new DeliveryLog(pool, config.webhooks), SHARED),
    providedBy(
      EndpointService,
      ({ source, config, clock }: Shared) => new EndpointService(source, config, clock),
      SHARED,
    ),
    providedBy(WebhookSender, newSender, {
      ...SHARED,
      queue: DeliveryQueue,
      connections: UpstreamConnections,
      mail: MailSender,
    }),
    // Attempts in progress end before the program stops.
    running(WebhookSender),
    closing(UpstreamConnections),
  ],
})
export class WebhooksModule {}
