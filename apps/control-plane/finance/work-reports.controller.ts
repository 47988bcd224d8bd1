import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { readHoldTotals } from '#finance/reports/holds.js';
import { listedRows, listedPage } from '#finance/listing.js';
import { readPromotion } from '#finance/reports/promotion.js';
import { readRefundDays } from '#finance/reports/refunds.js';
import { inSnapshot } from '#finance/snapshot.js';
import { atHorizon, type Horizon } from '#ledger/postings/horizon.js';
import { inSequence, sendCsv, shaped } from '#platform/http/csv.js';
import { failureListing, holdListing } from '#finance/views/report-files.js';
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
    const { graceMs } = this.config.reconcile;
    const holds = holdListing({ graceMs, overdueOnly: query.overdue });
    return inSnapshot(database, async (client) => {
      const page = await listedPage(client, holds, query);
      return { ...(await readHoldTotals(client, graceMs)), ...page };
    });
  }

  @Serves(routes.holds.csv)
  holdsCsv({ query, database, reply }: CallOf<typeof routes.holds.csv>): Readable {
    const asked = { graceMs: this.config.reconcile.graceMs, overdueOnly: query.overdue };
    return sendCsv(reply, holdColumns, listedRows(database, holdListing(asked)));
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
    const times = checkedTimes(query, this.clock.nowMs());
    const failures = failureListing({ ...times, outstandingOnly: query.outstanding });
    return inSnapshot(database, (client) => listedPage(client, failures, query));
  }

  @Serves(routes.failures.csv)
  failuresCsv({ query, database, reply }: CallOf<typeof routes.failures.csv>): Readable {
    const asked = { ...checkedTimes(query, this.clock.nowMs()), outstandingOnly: query.outstanding };
    return sendCsv(reply, failureColumns, listedRows(database, failureListing(asked)));
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

async function promotionOf(
  database: pg.Pool,
  { from = null, to = null }: { from?: Date | null | undefined; to?: Date | null | undefined },
) {
  const read = (client: pg.ClientBase, horizon: Horizon) => readPromotion(client, horizon, { from, to });
  return promotionView(await atHorizon(database, read));
}
