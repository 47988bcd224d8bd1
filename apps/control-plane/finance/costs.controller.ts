import { Controller } from '@nestjs/common';
import { costsProgress } from '#finance/costs/accrual.js';
import { importCosts } from '#finance/costs/cost-file.js';
import { listCosts, setCost } from '#finance/costs/cost-versions.js';
import { billsByChannel, listBills, recordBill } from '#finance/costs/upstream-bills.js';
import { chargeMargin } from '#finance/reports/charge-margin.js';
import { inSnapshot } from '#finance/snapshot.js';
import { parseAmount } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { readCharge } from '#usage/charge.reader.js';
import { pageFrom, readCursorId, readCursorNumber } from '#platform/http/page.js';
import { viewBill, viewChargeMargin, viewCostImport } from '#finance/views/costs.view.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { costRoutes as routes } from './costs.routes.js';

@Controller()
export class CostsController extends Using({ pool: POOL }) {
  @Serves(routes.list)
  async list({ query }: CallOf<typeof routes.list>) {
    const { limit, cursor, ...asked } = query;
    const beforeId = readCursorNumber(cursor);
    const rows = await listCosts(this.pool, { ...asked, limit: limit + 1, beforeId });
    return pageFrom(rows, limit, ({ id }) => [id.toString()]);
  }

  @Serves(routes.set)
  async set({ body, actor }: CallOf<typeof routes.set>) {
    return setCost(this.pool, { ...body, actor: `user:${actor.userId}` });
  }

  @Serves(routes.import)
  async import({ body, query, actor }: CallOf<typeof routes.import>) {
    return viewCostImport(await importCosts(this.pool, body, { ...query, actor: `user:${actor.userId}` }));
  }

  @Serves(routes.bills)
  async bills({ query }: CallOf<typeof routes.bills>) {
    const { limit, cursor, channel } = query;
    const beforeId = readCursorId(cursor);
    const rows = await listBills(this.pool, { limit: limit + 1, beforeId, channel: channel ?? null });
    return pageFrom(rows.map(viewBill), limit, ({ id }) => [id]);
  }

  @Serves(routes.recordBill)
  async recordBill({ body, actor }: CallOf<typeof routes.recordBill>) {
    const amount = parseAmount(body.amount);
    return viewBill(await recordBill(this.pool, { ...body, amount, actor: `user:${actor.userId}` }));
  }

  @Serves(routes.billsReport)
  async billsReport() {
    return inSnapshot(this.pool, async (client) => ({
      costsTo: (await costsProgress(client)).at,
      channels: await billsByChannel(client),
    }));
  }

  @Serves(routes.charge)
  async charge({ params }: CallOf<typeof routes.charge>) {
    const charge = await readCharge(this.pool, params.chargeId, null);
    const margin = await chargeMargin(this.pool, params.chargeId);
    if (!charge || !margin) throw new ApiError('not_found', 'There is no such charge.');
    return viewChargeMargin(charge, margin);
  }
}
