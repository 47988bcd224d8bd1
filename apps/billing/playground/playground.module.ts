import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { BillingConfig } from '../billing.config.js';
import { BASE_URL, CLOCK, CONFIG, GATEWAY_URL, LOG } from '../billing.tokens.js';
import { KeysModule } from '../keys/keys.module.js';
import { GatewayClient } from './gateway.client.js';
import { PlaygroundController } from './playground.controller.js';

/** Asked for, since where a program listens may not be known yet. */
type Address = () => string;

@Injectable()
class GatewayConnections implements OnApplicationShutdown {
  constructor(@Inject(GatewayClient) private readonly gateway: GatewayClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.gateway.close();
  }
}

/** Calls of models from the pages. */
@Module({
  imports: [KeysModule],
  controllers: [PlaygroundController],
  providers: [
    {
      provide: GatewayClient,
      inject: [CONFIG, GATEWAY_URL, BASE_URL, CLOCK, LOG],
      useFactory: (
        ...[config, gatewayUrl, baseUrl, clock, log]: [BillingConfig, Address, Address, Clock, Logger]
      ) => new GatewayClient({ config: config.console.playground, gatewayUrl, baseUrl, clock, log }),
    },
    GatewayConnections,
  ],
})
export class PlaygroundModule {}
