import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { type HoldsQuery, readHolds, readHoldTotals } from '#finance/reports/holds.js';
import { readPromotion } from '#finance/reports/promotion.js';
import { type FailuresQuery, readFailures, readRefundDays } from '#finance/reports/refunds.js';
import { inSnapshot } from '#finance/snapshot.js';
import { atHorizon, type Horizon } from '#ledger/postings/horizon.js';
import { inSequence, sendCsv, shaped } from '#platform/http/csv.js';
import { pageFrom, readCursorInstant } from '#platform/http/page.js';
import { everyFailure, everyHold } from '#finance/views/report-files.js';
import {
  failureColumns,
  holdColumns,
  promotionColumns,
  promotionRows,
  promotionView,
  refundDayColumns,
  refundDayShape,
} from '#finance/views/work-reports.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { checkedTimes } from '../http/report-range.js';
import { workReportRoutes as routes } from './work-reports.routes.js';

/** Holds, refunds of failed work, and the cost of invites. */
@Controller()
export class WorkReportsController extends Using({
  clock: CONTROL_PLANE_CLOCK,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(routes.holds)
  async holds({ query, database }: CallOf<typeof routes.holds>) {
    const { limit, cursor, overdue } = query;
    const key = timeCursor(cursor);
    const asked: HoldsQuery = {
      graceMs: this.config.reconcile.graceMs,
      limit: limit + 1,
      overdueOnly: overdue,
      after: key && { heldSince: key.at, chargeId: key.id },
    };
    return inSnapshot(database, async (client) => {
      const rows = await readHolds(client, asked);
      const page = pageFrom(rows, limit, ({ heldSince, chargeId }) => [heldSince, chargeId]);
      const totals = await readHoldTotals(client, this.config.reconcile.graceMs);
      return { ...totals, ...page };
    });
  }

  @Serves(routes.holds.csv)
  holdsCsv({ query, database, reply }: CallOf<typeof routes.holds.csv>): Readable {
    const asked = { graceMs: this.config.reconcile.graceMs, overdueOnly: query.overdue };
    return sendCsv(reply, holdColumns, everyHold(database, asked));
  }

  @Serves(routes.refunds)
  async refunds({ query, database }: CallOf<typeof routes.refunds>) {
    const range = checkedTimes(query, this.clock.nowMs());
    const days = await inSnapshot(database, (client) => readRefundDays(client, range));
    return { from: range.from, to: range.to, days };
  }

  @Serves(routes.refunds.csv)
  async refundsCsv({ query, database, reply }: CallOf<typeof routes.refunds.csv>): Promise<Readable> {
    const range = checkedTimes(query, this.clock.nowMs());
    const days = await inSnapshot(database, (client) => readRefundDays(client, range));
    return sendCsv(reply, refundDayColumns, shaped(refundDayShape, days));
  }

  @Serves(routes.failures)
  async failures({ query, database }: CallOf<typeof routes.failures>) {
    const { limit, cursor, outstanding } = query;
    const key = timeCursor(cursor);
    const asked: FailuresQuery = {
      ...checkedTimes(query, this.clock.nowMs()),
      limit: limit + 1,
      outstandingOnly: outstanding,
      after: key && { failedAt: key.at, chargeId: key.id },
    };
    const rows = await inSnapshot(database, (client) => readFailures(client, asked));
    return pageFrom(rows, limit, ({ failedAt, chargeId }) => [failedAt, chargeId]);
  }

  @Serves(routes.failures.csv)
  failuresCsv({ query, database, reply }: CallOf<typeof routes.failures.csv>): Readable {
    const asked = { ...checkedTimes(query, this.clock.nowMs()), outstandingOnly: query.outstanding };
    return sendCsv(reply, failureColumns, everyFailure(database, asked));
  }

  @Serves(routes.promotion)
  promotion({ query, database }: CallOf<typeof routes.promotion>) {
    return promotionOf(database, query);
  }

  @Serves(routes.promotion.csv)
  async promotionCsv({ query, database, reply }: CallOf<typeof routes.promotion.csv>): Promise<Readable> {
    const rows = promotionRows(await promotionOf(database, query));
    return sendCsv(reply, promotionColumns, inSequence(rows));
  }
}

function timeCursor(cursor: string | undefined): { at: string; id: string } | null {
  const key = readCursorInstant(cursor, 2);
  return key && { at: key[0]!, id: key[1]! };
}

async function promotionOf(
  database: pg.Pool,
  { from = null, to = null }: { from?: Date | null | undefined; to?: Date | null | undefined },
) {
  const read = (client: pg.ClientBase, horizon: Horizon) => readPromotion(client, horizon, { from, to });
  return promotionView(await atHorizon(database, read));
}
