import { Module } from '@nestjs/common';
import type pg from 'pg';
import { POOL } from '../billing.tokens.js';
import { MarketModule } from '../market/market.module.js';
import { MarketReader } from '../market/price-list.js';
import { ChargeController } from './charge.controller.js';
import { QuoteDesk } from './quote.desk.js';

/** Charges explained, and quotes. */
@Module({
  imports: [MarketModule],
  controllers: [ChargeController],
  providers: [
    {
      provide: QuoteDesk,
      inject: [POOL, MarketReader],
      useFactory: (pool: pg.Pool, market: MarketReader) => new QuoteDesk(pool, market),
    },
  ],
})
export class ChargesModule {}
