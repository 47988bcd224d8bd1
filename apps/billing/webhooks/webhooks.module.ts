import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { UpstreamConnections } from '#upstream/connections.js';
import type { BillingConfig } from '../billing.config.js';
import { CLOCK, CONFIG, LOG, POOL, REGISTRY } from '../billing.tokens.js';
import { MailSender } from '../mail/mail.sender.js';
import { DeliveryLog } from './delivery.log.js';
import { DeliveryQueue } from './delivery.queue.js';
import { EndpointDesk } from './endpoint.desk.js';
import { NoticesController } from './notices.controller.js';
import { WebhookSender } from './webhook.sender.js';
import { WebhooksController } from './webhooks.controller.js';

/** Sends while the application runs, and lets attempts under way end before it stops. */
@Injectable()
class WebhookWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(WebhookSender) private readonly sender: WebhookSender,
    @Inject(UpstreamConnections) private readonly connections: UpstreamConnections,
  ) {}

  onApplicationBootstrap(): void {
    this.sender.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sender.stop();
    await this.connections.close();
  }
}

/** Tells accounts of what happens to them, at addresses of their own. */
@Module({
  controllers: [WebhooksController, NoticesController],
  providers: [
    WebhookWork,
    { provide: UpstreamConnections, useFactory: () => new UpstreamConnections() },
    {
      provide: DeliveryQueue,
      useFactory: (pool: pg.Pool, { webhooks }: BillingConfig) => new DeliveryQueue(pool, webhooks),
      inject: [POOL, CONFIG],
    },
    {
      provide: DeliveryLog,
      useFactory: (pool: pg.Pool, { webhooks }: BillingConfig) => new DeliveryLog(pool, webhooks),
      inject: [POOL, CONFIG],
    },
    {
      provide: EndpointDesk,
      useFactory: (source: DataSource, config: BillingConfig, clock: Clock) =>
        new EndpointDesk(source, config, clock),
      inject: [DataSource, CONFIG, CLOCK],
    },
    {
      provide: WebhookSender,
      useFactory: newSender,
      inject: [DeliveryQueue, UpstreamConnections, CONFIG, CLOCK, LOG, REGISTRY, MailSender],
    },
  ],
})
export class WebhooksModule {}

type SenderInputs = [DeliveryQueue, UpstreamConnections, BillingConfig, Clock, Logger, Registry, MailSender];

function newSender(...[queue, connections, config, clock, log, registry, mail]: SenderInputs): WebhookSender {
  return new WebhookSender({
    queue,
    connections,
    config: config.webhooks,
    secrets: config.secrets,
    clock,
    log,
    registry,
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
