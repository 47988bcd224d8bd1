import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { findPeriod, listLatePostings, listPeriods, type Period } from '#finance/periods/period.js';
import { ApiError } from '#platform/errors.js';
import { trialBalanceColumns } from '#finance/views/ledger.view.js';
import { inSequence, sendCsv } from '#platform/http/csv.js';
import { pageFrom, readCursorNumber } from '#platform/http/page.js';
import { PeriodService } from '#finance/periods/period.service.js';
import { balancesOfPeriod, viewItem, viewPeriod } from '#finance/periods/periods.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { periodRoutes as routes } from './periods.routes.js';

@Controller()
export class PeriodsController extends Using({
  service: PeriodService,
  pool: POOL,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(routes.list)
  async list({ query }: CallOf<typeof routes.list>) {
    const { limit, cursor, state } = query;
    const beforeId = readCursorNumber(cursor);
    const views = (await listPeriods(this.pool, { limit, beforeId, state })).map(viewPeriod);
    return pageFrom(views, limit, ({ id }) => [id]);
  }

  @Serves(routes.show)
  async show({ params }: CallOf<typeof routes.show>) {
    const period = await this.find(params.periodId);
    return {
      ...viewPeriod(period),
      balances: await balancesOfPeriod(this.pool, period.id, this.config.payments.currency),
    };
  }

  @Serves(routes.balances)
  async balances({ params, database, reply }: CallOf<typeof routes.balances>): Promise<Readable> {
    const period = found(await findPeriod(database, BigInt(params.periodId)));
    const day = period.endsAt.toISOString().slice(0, 10);
    const rows = await balancesOfPeriod(database, period.id, this.config.payments.currency);
    return sendCsv(
      reply,
      { fileName: `trial-balance-${day}.csv`, columns: trialBalanceColumns },
      inSequence(rows),
    );
  }

  @Serves(routes.late)
  async late({ params, query }: CallOf<typeof routes.late>) {
    const { limit, cursor } = query;
    const { id: periodId } = await this.find(params.periodId);
    const afterId = readCursorNumber(cursor);
    const rows = await listLatePostings(this.pool, { periodId, limit, afterId });
    return pageFrom(rows, limit, ({ transactionId }) => [transactionId.toString()]);
  }

  @Serves(routes.check)
  async check({ body }: CallOf<typeof routes.check>) {
    const { at, checklist, graceMs } = await this.service.check(body.end);
    const ok = checklist.every(({ state }) => state !== 'failed');
    return { at, ok, graceSeconds: graceMs / 1000, checklist: checklist.map(viewItem) };
  }

  @Serves(routes.close)
  async close(call: CallOf<typeof routes.close>) {
    const { end, note = null, requestId } = call.body;
    const actor = `user:${call.actor.userId}`;
    return viewPeriod(await this.service.close({ end, note, actor, requestId }, call.requestId));
  }

  private async find(periodId: string): Promise<Period> {
    return found(await this.service.find(BigInt(periodId)));
  }
}

/** @throws ApiError not_found */
function found(period: Period | null): Period {
  if (period) return period;
  throw new ApiError('not_found', 'There is no such period.');
}
