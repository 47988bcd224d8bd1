import { Module } from '@nestjs/common';
import { MarketReader } from '#marketplace/price-list.js';
import { ProgramReader } from '#operations/program.reader.js';
import { constructed, provided } from '#platform/wiring.js';
import { POOL, SHARED } from '../control-plane.tokens.js';
import { ProgramsModule } from '../programs/programs.module.js';
import { MarketController } from './market.controller.js';
import { ServiceStatus } from './service-status.js';
import { ServiceStatusController } from './service-status.controller.js';

@Module({
  imports: [ProgramsModule],
  controllers: [MarketController, ServiceStatusController],
  providers: [
    constructed(MarketReader, POOL),
    provided(ServiceStatus, { ...SHARED, market: MarketReader, programs: ProgramReader }),
  ],
  exports: [MarketReader],
})
export class MarketModule {}
