import { Module } from '@nestjs/common';
import type pg from 'pg';
import { MarketReader } from '#marketplace/price-list.js';
import { POOL } from '../control-plane.tokens.js';
import { MarketController } from './market.controller.js';

/** The public price list. */
@Module({
  controllers: [MarketController],
  providers: [
    { provide: MarketReader, inject: [POOL], useFactory: (pool: pg.Pool) => new MarketReader(pool) },
  ],
  exports: [MarketReader],
})
export class MarketModule {}
