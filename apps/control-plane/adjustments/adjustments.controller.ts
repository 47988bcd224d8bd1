import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { type AdjustmentsQuery, listAdjustments } from '#finance/reports/adjustments.js';
import { type Debtor, readDebtors, readDebtTotals } from '#finance/reports/debts.js';
import { inSnapshot } from '#finance/snapshot.js';
import { listWriteOffs } from '#ledger/postings/write-off.js';
import { sendCsv } from '#platform/http/csv.js';
import { viewAmount } from '#platform/http/fields.js';
import { pageFrom, readCursor } from '#platform/http/page.js';
import { AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { parseSigned } from '#finance/adjustments/correction.js';
import {
  adjustmentColumns,
  debtorColumns,
  viewAdjustment,
  viewDebtor,
  viewWriteOff,
  writeOffColumns,
} from '#finance/adjustments/adjustments.view.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { adjustmentRoutes as routes } from './adjustments.routes.js';

/** Rows of a file that are read at once. */
const FILE_PAGE = 1_000;

/** Corrections of balances by people, and the debts that are left. */
@Controller()
export class AdjustmentsController {
  constructor(
    @Inject(AdjustmentService) private readonly service: AdjustmentService,
    @Inject(POOL) private readonly pool: pg.Pool,
  ) {}

  @Serves(routes.list)
  async list({ query }: CallOf<typeof routes.list>) {
    const { limit, cursor, ...filter } = query;
    const [beforeId = null] = readCursor(cursor, 1) ?? [];
    const views = (await listAdjustments(this.pool, { ...filter, limit, beforeId })).map(viewAdjustment);
    return pageFrom(views, limit, ({ id }) => [id]);
  }

  @Serves(routes.file)
  file({ query, reply }: CallOf<typeof routes.file>): Readable {
    return sendCsv(
      reply,
      { fileName: 'adjustments.csv', columns: adjustmentColumns },
      this.everyAdjustment(query),
    );
  }

  @Serves(routes.adjust)
  async adjust(call: CallOf<typeof routes.adjust>) {
    const { amount, requestId: _, ...wanted } = call.body;
    const answer = await this.service.adjust({ ...wanted, amount: parseSigned(amount) }, asking(call));
    const { state, done, approvalId } = answer;
    return { state, adjustment: done && viewAdjustment(done), approvalId };
  }

  @Serves(routes.reverse)
  async reverse(call: CallOf<typeof routes.reverse>) {
    const answer = await this.service.reverse(call.params.adjustmentId, call.body.note, asking(call));
    const { state, done, approvalId } = answer;
    return { state, adjustment: done && viewAdjustment(done), approvalId };
  }

  @Serves(routes.writeOffs)
  async writeOffs({ query }: CallOf<typeof routes.writeOffs>) {
    const { limit, cursor, accountId } = query;
    const [beforeId = null] = readCursor(cursor, 1) ?? [];
    const views = (await listWriteOffs(this.pool, { limit, beforeId, accountId })).map(viewWriteOff);
    return pageFrom(views, limit, ({ id }) => [id]);
  }

  @Serves(routes.writeOffsFile)
  writeOffsFile({ query, reply }: CallOf<typeof routes.writeOffsFile>): Readable {
    return sendCsv(
      reply,
      { fileName: 'write-offs.csv', columns: writeOffColumns },
      this.everyWriteOff(query.accountId),
    );
  }

  @Serves(routes.writeOff)
  async writeOff(call: CallOf<typeof routes.writeOff>) {
    const { amount = null, requestId: _, ...wanted } = call.body;
    const { state, done, approvalId } = await this.service.writeOff({ ...wanted, amount }, asking(call));
    return { state, writeOff: done && viewWriteOff(done), approvalId };
  }

  @Serves(routes.reverseWriteOff)
  async reverseWriteOff(call: CallOf<typeof routes.reverseWriteOff>) {
    const answer = await this.service.reverseWriteOff(call.params.writeOffId, call.body.note, asking(call));
    const { state, done, approvalId } = answer;
    return { state, writeOff: done && viewWriteOff(done), approvalId };
  }

  @Serves(routes.debts)
  debts({ query }: CallOf<typeof routes.debts>) {
    const { limit, cursor } = query;
    const [afterId = null] = readCursor(cursor, 1) ?? [];
    return inSnapshot(this.pool, async (client) => {
      const views = (await readDebtors(client, { limit: limit + 1, afterId })).map(viewDebtor);
      const { accounts, frozen, debt, owedRewards } = await readDebtTotals(client);
      return {
        ...pageFrom(views, limit, ({ accountId }) => [accountId]),
        accounts,
        frozen,
        debt: viewAmount(debt),
        owedRewards: viewAmount(owedRewards),
      };
    });
  }

  @Serves(routes.debtsFile)
  debtsFile({ reply }: CallOf<typeof routes.debtsFile>): Readable {
    return sendCsv(reply, { fileName: 'debts.csv', columns: debtorColumns }, this.everyDebtor());
  }

  private async *everyAdjustment(filter: Omit<AdjustmentsQuery, 'limit' | 'beforeId'>) {
    for (let beforeId: string | null = null, more = true; more;) {
      const rows = await listAdjustments(this.pool, { ...filter, limit: FILE_PAGE, beforeId });
      yield* rows.slice(0, FILE_PAGE).map(viewAdjustment);
      more = rows.length > FILE_PAGE;
      beforeId = rows[FILE_PAGE - 1]?.id ?? null;
    }
  }

  private async *everyWriteOff(accountId: string | undefined) {
    for (let beforeId: string | null = null, more = true; more;) {
      const rows = await listWriteOffs(this.pool, { limit: FILE_PAGE, beforeId, accountId });
      yield* rows.slice(0, FILE_PAGE).map(viewWriteOff);
      more = rows.length > FILE_PAGE;
      beforeId = rows[FILE_PAGE - 1]?.id ?? null;
    }
  }

  private async *everyDebtor(): AsyncGenerator<ReturnType<typeof viewDebtor>> {
    for (let afterId: string | null = null, more = true; more;) {
      const page: { limit: number; afterId: string | null } = { limit: FILE_PAGE, afterId };
      const rows: Debtor[] = await inSnapshot(this.pool, (client) => readDebtors(client, page));
      yield* rows.map(viewDebtor);
      more = rows.length === FILE_PAGE;
      afterId = rows.at(-1)?.accountId ?? null;
    }
  }
}

function asking(call: {
  actor: FinanceRequest['actor'];
  requestId: string;
  body: { requestId: string };
}): FinanceRequest {
  return { actor: call.actor, requestId: call.body.requestId, auditId: call.requestId };
}
