import { Module } from '@nestjs/common';
import { Loop } from '#platform/loop.js';
import { job } from '#platform/wiring.js';
import { sumUpModelDays } from '#usage/model-days.js';
import { purgeUsageSums, sumUpUsage } from '#usage/usage-summary.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';
import { OverviewController } from './overview.controller.js';

/** Past days change slowly. */
const HOUR_MS = 3_600_000;

/** Keeps the sums behind overviews up to date, behind the postings. */
function sumsLoop({ pool, config, log }: Shared): Loop {
  const intervalMs = config.console.usageSummaryMs;
  return new Loop({ name: 'usage-sums', intervalMs, log, round: (signal) => sumUpUsage(pool, signal) });
}

function purgeLoop({ pool, log }: Shared): Loop {
  return new Loop({
    name: 'usage-sums-purge',
    intervalMs: HOUR_MS,
    log,
    round: () => purgeUsageSums(pool),
  });
}

function modelsLoop({ pool, log }: Shared): Loop {
  return new Loop({
    name: 'model-records',
    intervalMs: HOUR_MS,
    log,
    round: async () => {
      await sumUpModelDays(pool);
      return false;
    },
  });
}

@Module({
  controllers: [OverviewController],
  providers: [job(sumsLoop, SHARED), job(modelsLoop, SHARED), job(purgeLoop, SHARED)],
})
export class OverviewModule {}
