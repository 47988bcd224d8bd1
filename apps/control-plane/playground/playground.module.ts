import { Module } from '@nestjs/common';
import { closing, provided, providedBy } from '#platform/wiring.js';
import { BASE_URL, GATEWAY_URL, type Shared, SHARED } from '../control-plane.tokens.js';
import { KeysModule } from '../keys/keys.module.js';
import { GatewayClient } from './gateway.client.js';
import { LibraryArchives } from './library-archive.js';
import { LibraryController } from './library.controller.js';
import { PlaygroundController } from './playground.controller.js';

/** Addresses are functions, because the port of a program may not be known yet. */
interface Addresses {
  gatewayUrl: () => string;
  baseUrl: () => string;
}

/** Calls of models from the pages. */
@Module({
  imports: [KeysModule],
  controllers: [PlaygroundController, LibraryController],
  providers: [
    providedBy(
      GatewayClient,
      ({ config, ...parts }: Shared & Addresses) =>
        new GatewayClient({ ...parts, config: config.console.playground }),
      { ...SHARED, gatewayUrl: GATEWAY_URL, baseUrl: BASE_URL },
    ),
    provided(LibraryArchives, { ...SHARED, gateway: GatewayClient }),
    closing(GatewayClient),
  ],
})
export class PlaygroundModule {}
