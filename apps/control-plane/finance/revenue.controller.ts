import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { priceChanges, priceChangeView } from '#finance/reports/price-changes.js';
import { type Days, revenueReport, revenueRows } from '#finance/reports/revenue.js';
import { daysIn, readRevenueChart } from '#finance/reports/revenue-chart.js';
import { ApiError } from '#platform/errors.js';
import { sendCsv, shaped } from '#platform/http/csv.js';
import {
  ALL_VERSIONS,
  priceChangeColumns,
  revenueColumns,
  viewRevenue,
} from '#finance/views/revenue.view.js';
import { viewRevenueChart } from '#finance/views/revenue-chart.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { checkedDays } from '../http/report-range.js';
import { type CallOf, Serves } from '../http/route.js';
import { revenueRoutes as routes } from './revenue.routes.js';

@Controller()
export class RevenueController extends Using({ config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.revenue)
  async revenue({ query, database }: CallOf<typeof routes.revenue>) {
    const { by, limit } = query;
    const report = await revenueReport(database, { ...checkedDays(query), by, limit });
    return viewRevenue(report, by, this.config.payments.currency);
  }

  @Serves(routes.revenue.csv)
  async revenueCsv({ query, database, reply }: CallOf<typeof routes.revenue.csv>): Promise<Readable> {
    const { by } = query;
    const days = checkedDays(query);
    const rows = revenueRows(database, { ...days, by });
    return sendCsv(reply, { fileName: `revenue-${days.from}.csv`, columns: revenueColumns(by) }, rows);
  }

  @Serves(routes.chart)
  async chart({ query, database }: CallOf<typeof routes.chart>) {
    const { from, to, by, ...filter } = query;
    const days = chartDays({ from, to });
    const chart = await readRevenueChart(database, { ...days, by, filter });
    return viewRevenueChart(chart, { ...days, currency: this.config.payments.currency });
  }

  @Serves(routes.work)
  async work({ query, database }: CallOf<typeof routes.work>) {
    const { from, to, by, ...filter } = query;
    const days = chartDays({ from, to });
    return { ...days, ...(await readRevenueChart(database, { ...days, by, filter })) };
  }

  @Serves(routes.priceChanges)
  async priceChanges({ query, database }: CallOf<typeof routes.priceChanges>) {
    const { from = null, to = null, kind = null, subject = null, limit } = query;
    const versions = await priceChanges(database, { from, to, kind, subject, limit });
    return { versions };
  }

  @Serves(routes.priceChanges.csv)
  async priceChangesCsv({ query, database, reply }: CallOf<typeof routes.priceChanges.csv>) {
    const { from = null, to = null, kind = null, subject = null } = query;
    const versions = await priceChanges(database, { from, to, kind, subject, limit: ALL_VERSIONS });
    return sendCsv(reply, priceChangeColumns, shaped(priceChangeView, versions));
  }
}

/** A leap year. */
const MOST_CHART_DAYS = 366;

function chartDays(query: { from?: string | undefined; to?: string | undefined }): Days {
  const days = checkedDays(query);
  if (daysIn(days) <= MOST_CHART_DAYS) return days;
  const rule = `from: must be at most ${MOST_CHART_DAYS} days before to.`;
  throw new ApiError('invalid_value', rule, { param: 'from' });
}
