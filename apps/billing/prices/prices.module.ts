import { Module } from '@nestjs/common';
import type pg from 'pg';
import { OutboxRelay } from '#bus/outbox.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, POOL } from '../billing.tokens.js';
import { PricesController } from './prices.controller.js';
import { ProposalDesk } from './proposal.desk.js';

/** How prices, multipliers and rules change. */
@Module({
  controllers: [PricesController],
  providers: [
    {
      provide: ProposalDesk,
      inject: [POOL, CONFIG, OutboxRelay],
      useFactory: (pool: pg.Pool, config: BillingConfig, relay: OutboxRelay) =>
        new ProposalDesk({ pool, lifeMs: config.market.proposalLifeMs, onCommitted: () => relay.wake() }),
    },
  ],
})
export class PricesModule {}
