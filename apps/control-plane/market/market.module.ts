import { Module } from '@nestjs/common';
import type pg from 'pg';
import { MarketReader } from '#marketplace/price-list.js';
import { ProgramReader } from '#operations/program.reader.js';
import { provided } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';
import { ProgramsModule } from '../programs/programs.module.js';
import { MarketController } from './market.controller.js';
import { ServiceStatus } from './service-status.js';
import { ServiceStatusController } from './service-status.controller.js';

/** The public price list, and whether the service works. */
@Module({
  imports: [ProgramsModule],
  controllers: [MarketController, ServiceStatusController],
  providers: [
    { provide: MarketReader, inject: [POOL], useFactory: (pool: pg.Pool) => new MarketReader(pool) },
    provided(ServiceStatus, {
      pool: POOL,
      clock: CONTROL_PLANE_CLOCK,
      market: MarketReader,
      programs: ProgramReader,
    }),
  ],
  exports: [MarketReader],
})
export class MarketModule {}
