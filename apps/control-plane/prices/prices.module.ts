import { Module } from '@nestjs/common';
import { ProposalService } from '#marketplace/prices/proposal.service.js';
import { providedBy } from '#platform/wiring.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';
import { CatalogModule } from '../catalog/catalog.module.js';
import { PricesController } from './prices.controller.js';
import { VendorsController } from './vendors.controller.js';

@Module({
  imports: [CatalogModule],
  controllers: [PricesController, VendorsController],
  providers: [
    providedBy(
      ProposalService,
      ({ pool, config, relay }: Shared) =>
        new ProposalService({ pool, lifeMs: config.market.proposalLifeMs, onCommitted: () => relay.wake() }),
      SHARED,
    ),
  ],
})
export class PricesModule {}
