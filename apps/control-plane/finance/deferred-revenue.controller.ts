import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { deferredLots } from '#finance/reports/deferred-lots.js';
import { deferredRevenueReport } from '#finance/reports/deferred-revenue.js';
import { inSequence, sendCsv } from '#platform/http/csv.js';
import { pageFrom, readCursorNumber } from '#platform/http/page.js';
import {
  deferredColumns,
  deferredFileRows,
  lotColumns,
  viewDeferredRevenue,
  viewLot,
} from '#finance/views/deferred-revenue.view.js';
import { everyLot, type LotsAsked } from '#finance/views/report-files.js';
import { daysOf } from '#finance/views/revenue.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { checkedDays } from '../http/report-range.js';
import { type CallOf, Serves } from '../http/route.js';
import { deferredRevenueRoutes as routes } from './deferred-revenue.routes.js';

/** Credits that were paid for and are not used yet. */
@Controller()
export class DeferredRevenueController extends Using({ config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.deferredRevenue)
  async deferredRevenue({ query, database }: CallOf<typeof routes.deferredRevenue>) {
    return viewDeferredRevenue(
      await deferredRevenueReport(database, checkedDays(query)),
      this.config.payments.currency,
    );
  }

  @Serves(routes.deferredRevenue.csv)
  async deferredRevenueCsv({ query, database, reply }: CallOf<typeof routes.deferredRevenue.csv>) {
    const days = checkedDays(query);
    const view = viewDeferredRevenue(
      await deferredRevenueReport(database, days),
      this.config.payments.currency,
    );
    return sendCsv(
      reply,
      { fileName: `deferred-revenue-${days.from}.csv`, columns: deferredColumns },
      inSequence(deferredFileRows(view)),
    );
  }

  @Serves(routes.lots)
  async lots({ query, database }: CallOf<typeof routes.lots>) {
    const { limit, cursor } = query;
    const after = readCursorNumber(cursor);
    const lots = await deferredLots(database, { ...lotsOf(query), limit: limit + 1, after });
    const views = lots.map((lot) => viewLot(lot, this.config.payments.currency));
    return { currency: this.config.payments.currency, ...pageFrom(views, limit, ({ lotId }) => [lotId]) };
  }

  @Serves(routes.lots.csv)
  lotsCsv({ query, database, reply }: CallOf<typeof routes.lots.csv>): Readable {
    return sendCsv(reply, lotColumns, everyLot(database, lotsOf(query), this.config.payments.currency));
  }
}

function lotsOf(query: {
  to?: string | undefined;
  accountId?: string | undefined;
  left: boolean;
}): LotsAsked {
  const { to } = daysOf(query, new Date());
  return { to, accountId: query.accountId ?? null, leftOnly: query.left };
}
