import { Module } from '@nestjs/common';
import { MarketReader } from '#marketplace/price-list.js';
import { QuoteService } from '#usage/quote.service.js';
import { POOL } from '../control-plane.tokens.js';
import { MarketModule } from '../market/market.module.js';
import { ChargeController } from './charge.controller.js';
import { QuotesController } from './quotes.controller.js';
import { PublicQuotes } from './public-quotes.js';
import { constructed } from '#platform/wiring.js';

@Module({
  imports: [MarketModule],
  controllers: [ChargeController, QuotesController],
  providers: [
    constructed(QuoteService, POOL, MarketReader),
    constructed(PublicQuotes, MarketReader, QuoteService),
  ],
})
export class ChargesModule {}
