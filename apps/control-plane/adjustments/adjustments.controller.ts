import { asking } from '../payments/finance.calls.js';
import type { Adjustment } from '#ledger/postings/adjustment.js';
import type { WriteOff } from '#ledger/postings/write-off.js';
import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { adjustmentListing, debtorListing, writeOffListing } from '#finance/adjustments/correction.lists.js';
import { readDebtTotals } from '#finance/reports/debts.js';
import { listedPage, listedRows } from '#finance/listing.js';
import { inSnapshot } from '#finance/snapshot.js';
import { sendCsv } from '#platform/http/csv.js';
import { type AdjustmentResult, AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { parseSigned } from '#finance/adjustments/correction.js';
import { adjustmentColumns, debtorColumns, writeOffColumns } from '#finance/adjustments/adjustments.view.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { adjustmentRoutes as routes } from './adjustments.routes.js';

/** Corrections of balances by people, and the debts that are left. */
@Controller()
export class AdjustmentsController extends Using({ service: AdjustmentService, pool: POOL }) {
  @Serves(routes.list)
  list({ query }: CallOf<typeof routes.list>) {
    return inSnapshot(this.pool, (client) => listedPage(client, adjustmentListing(query), query));
  }

  @Serves(routes.list.csv)
  file({ query, database, reply }: CallOf<typeof routes.list.csv>): Readable {
    return sendCsv(reply, adjustmentColumns, listedRows(database, adjustmentListing(query)));
  }

  @Serves(routes.adjust)
  async adjust(call: CallOf<typeof routes.adjust>) {
    const { amount, requestId: _, ...wanted } = call.body;
    return adjusted(await this.service.adjust({ ...wanted, amount: parseSigned(amount) }, asking(call)));
  }

  @Serves(routes.reverse)
  async reverse(call: CallOf<typeof routes.reverse>) {
    return adjusted(await this.service.reverse(call.params.adjustmentId, call.body.note, asking(call)));
  }

  @Serves(routes.writeOffs)
  writeOffs({ query }: CallOf<typeof routes.writeOffs>) {
    return inSnapshot(this.pool, (client) => listedPage(client, writeOffListing(query), query));
  }

  @Serves(routes.writeOffs.csv)
  writeOffsFile({ query, database, reply }: CallOf<typeof routes.writeOffs.csv>): Readable {
    return sendCsv(reply, writeOffColumns, listedRows(database, writeOffListing(query)));
  }

  @Serves(routes.writeOff)
  async writeOff(call: CallOf<typeof routes.writeOff>) {
    const { amount = null, requestId: _, ...wanted } = call.body;
    return writtenOff(await this.service.writeOff({ ...wanted, amount }, asking(call)));
  }

  @Serves(routes.reverseWriteOff)
  async reverseWriteOff(call: CallOf<typeof routes.reverseWriteOff>) {
    const { params, body } = call;
    return writtenOff(await this.service.reverseWriteOff(params.writeOffId, body.note, asking(call)));
  }

  @Serves(routes.debts)
  debts({ query }: CallOf<typeof routes.debts>) {
    return inSnapshot(this.pool, async (client) => {
      const page = await listedPage(client, debtorListing, query);
      return { ...page, ...(await readDebtTotals(client)) };
    });
  }

  @Serves(routes.debts.csv)
  debtsFile({ database, reply }: CallOf<typeof routes.debts.csv>): Readable {
    return sendCsv(reply, debtorColumns, listedRows(database, debtorListing));
  }
}

function adjusted({ done, ...answer }: AdjustmentResult<Adjustment>) {
  return { ...answer, adjustment: done };
}

function writtenOff({ done, ...answer }: AdjustmentResult<WriteOff>) {
  return { ...answer, writeOff: done };
}
