import { Module } from '@nestjs/common';
import { recordCloseGrace } from '#finance/periods/close-grace.js';
import { first, providedBy, running } from '#platform/wiring.js';
import { PeriodService } from '#finance/periods/period.service.js';
import { WaiverService } from '#finance/periods/waiver.service.js';
import { type Shared, SHARED, SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { PeriodsController } from './periods.controller.js';
import { WaiversController } from './waivers.controller.js';

@Module({
  controllers: [PeriodsController, WaiversController],
  providers: [
    providedBy(
      PeriodService,
      ({ pool, log, config: { periods: config, reconcile } }: Shared) =>
        new PeriodService({ pool, log, config, reconcile }),
      SHARED,
    ),
    providedBy(
      WaiverService,
      ({ config, ...parts }) => new WaiverService({ ...parts, limitMs: config.reconcile.limitMs }),
      SHARED_WITH_APPROVALS,
    ),
    // A close that runs when the program ends is given up, and the books are open again.
    running(PeriodService),
    // Every close uses the grace period that this program was started with, no matter who requests it and where.
    first(({ pool, config }: Shared) => recordCloseGrace(pool, config.reconcile.graceMs), SHARED),
  ],
})
export class PeriodsModule {}
