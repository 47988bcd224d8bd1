import { Module } from '@nestjs/common';
import type pg from 'pg';
import { MarketReader } from '#marketplace/price-list.js';
import { QuoteService } from '#usage/quote.service.js';
import { POOL } from '../control-plane.tokens.js';
import { MarketModule } from '../market/market.module.js';
import { ChargeController } from './charge.controller.js';

/** Charges explained, and quotes. */
@Module({
  imports: [MarketModule],
  controllers: [ChargeController],
  providers: [
    {
      provide: QuoteService,
      inject: [POOL, MarketReader],
      useFactory: (pool: pg.Pool, market: MarketReader) => new QuoteService(pool, market),
    },
  ],
})
export class ChargesModule {}
