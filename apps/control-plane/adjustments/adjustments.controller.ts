import { asking } from '../payments/finance.calls.js';
import type { Adjustment } from '#ledger/postings/adjustment.js';
import { listWriteOffs, type WriteOff } from '#ledger/postings/write-off.js';
import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { type AdjustmentsQuery, listAdjustments } from '#finance/reports/adjustments.js';
import { type Debtor, readDebtors, readDebtTotals } from '#finance/reports/debts.js';
import { inSnapshot } from '#finance/snapshot.js';
import { sendCsv, shaped, everyRow } from '#platform/http/csv.js';
import { pageFrom, readCursorId } from '#platform/http/page.js';
import { type AdjustmentResult, AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { parseSigned } from '#finance/adjustments/correction.js';
import {
  adjustmentColumns,
  debtorColumns,
  viewDebtor,
  writeOffColumns,
  adjustmentView,
  writeOffView,
} from '#finance/adjustments/adjustments.view.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { adjustmentRoutes as routes } from './adjustments.routes.js';

/** Corrections of balances by people, and the debts that are left. */
@Controller()
export class AdjustmentsController extends Using({ service: AdjustmentService, pool: POOL }) {
  @Serves(routes.list)
  async list({ query }: CallOf<typeof routes.list>) {
    const { limit, cursor, ...filter } = query;
    const beforeId = readCursorId(cursor);
    const rows = await listAdjustments(this.pool, { ...filter, limit, beforeId });
    return pageFrom(rows, limit, ({ id }) => [id]);
  }

  @Serves(routes.list.csv)
  file({ query, database, reply }: CallOf<typeof routes.list.csv>): Readable {
    return sendCsv(reply, adjustmentColumns, shaped(adjustmentView, everyAdjustment(database, query)));
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
  async writeOffs({ query }: CallOf<typeof routes.writeOffs>) {
    const { limit, cursor, accountId } = query;
    const beforeId = readCursorId(cursor);
    const rows = await listWriteOffs(this.pool, { limit, beforeId, accountId });
    return pageFrom(rows, limit, ({ id }) => [id]);
  }

  @Serves(routes.writeOffs.csv)
  writeOffsFile({ query, database, reply }: CallOf<typeof routes.writeOffs.csv>): Readable {
    return sendCsv(reply, writeOffColumns, shaped(writeOffView, everyWriteOff(database, query.accountId)));
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
    const { limit, cursor } = query;
    const afterId = readCursorId(cursor);
    return inSnapshot(this.pool, async (client) => {
      const views = (await readDebtors(client, { limit: limit + 1, afterId })).map(viewDebtor);
      const totals = await readDebtTotals(client);
      return {
        ...pageFrom(views, limit, ({ accountId }) => [accountId]),
        ...totals,
      };
    });
  }

  @Serves(routes.debts.csv)
  debtsFile({ database, reply }: CallOf<typeof routes.debts.csv>): Readable {
    return sendCsv(reply, debtorColumns, everyDebtor(database));
  }
}

function adjusted({ done, ...answer }: AdjustmentResult<Adjustment>) {
  return { ...answer, adjustment: done };
}

function writtenOff({ done, ...answer }: AdjustmentResult<WriteOff>) {
  return { ...answer, writeOff: done };
}

/** These lists read one row more than their limit. */
function everyAdjustment(database: pg.Pool, filter: Omit<AdjustmentsQuery, 'limit' | 'beforeId'>) {
  return everyRow<Adjustment>((limit, last) =>
    listAdjustments(database, { ...filter, limit: limit - 1, beforeId: last && last.id }),
  );
}

function everyWriteOff(database: pg.Pool, accountId: string | undefined) {
  return everyRow<WriteOff>((limit, last) =>
    listWriteOffs(database, { limit: limit - 1, beforeId: last && last.id, accountId }),
  );
}

async function* everyDebtor(database: pg.Pool) {
  const rows = everyRow<Debtor>((limit, last) =>
    inSnapshot(database, (client) => readDebtors(client, { limit, afterId: last && last.accountId })),
  );
  for await (const row of rows) yield viewDebtor(row);
}
