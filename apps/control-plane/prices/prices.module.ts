import { Module } from '@nestjs/common';
import type pg from 'pg';
import { OutboxRelay } from '#bus/outbox.js';
import { ProposalService } from '#marketplace/prices/proposal.service.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { CatalogModule } from '../catalog/catalog.module.js';
import { PricesController } from './prices.controller.js';
import { VendorsController } from './vendors.controller.js';

/** How prices, multipliers and rules change. */
@Module({
  imports: [CatalogModule],
  controllers: [PricesController, VendorsController],
  providers: [
    {
      provide: ProposalService,
      inject: [POOL, CONTROL_PLANE_CONFIG, OutboxRelay],
      useFactory: (pool: pg.Pool, config: ControlPlaneConfig, relay: OutboxRelay) =>
        new ProposalService({ pool, lifeMs: config.market.proposalLifeMs, onCommitted: () => relay.wake() }),
    },
  ],
})
export class PricesModule {}
