import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { ApiError } from '#platform/errors.js';
import { sendPdf } from '#platform/http/attachment.js';
import { inSequence, sendCsv } from '#platform/http/csv.js';
import { type MonthlyStatement, readMonthlyStatement } from '#usage/statements/monthly-statement.js';
import { statementPdf } from '#usage/statements/statement.pdf.js';
import { keyWorkColumns, viewMonthlyStatement } from '#usage/statements/statement.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { monthlyRoutes as routes } from './statements.routes.js';

/** Statements of a month: of one's own account, and of any for finance. */
@Controller()
export class StatementsController extends Using({ config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.own)
  own(call: CallOf<typeof routes.own>): Promise<Readable> {
    return this.send(call, call.actor.accountId);
  }

  @Serves(routes.any)
  any(call: CallOf<typeof routes.any>): Promise<Readable> {
    return this.send(call, call.params.accountId);
  }

  @Serves(routes.byKey)
  async byKey(call: CallOf<typeof routes.byKey>) {
    return viewMonthlyStatement(await statementOf(call, call.actor.accountId));
  }

  @Serves(routes.byKey.csv)
  async byKeyCsv(call: CallOf<typeof routes.byKey.csv>): Promise<Readable> {
    const { month, work } = await statementOf(call, call.actor.accountId);
    const file = { fileName: `statement-${month}-by-key.csv`, columns: keyWorkColumns };
    return sendCsv(call.reply, file, inSequence(work));
  }

  private async send(call: CallOf<typeof routes.own>, accountId: string): Promise<Readable> {
    const { query, session, reply } = call;
    const statement = await statementOf(call, accountId);
    const language = query.language ?? session.language ?? 'en';
    const file = await statementPdf(statement, { issuer: this.config.payments.issuer, language });
    return sendPdf(reply, `statement-${statement.month}.pdf`, file);
  }
}

type Asking = Pick<CallOf<typeof routes.byKey>, 'params' | 'query' | 'database'>;

async function statementOf(
  { params: { month }, query: { keyId }, database }: Asking,
  accountId: string,
): Promise<MonthlyStatement> {
  const statement = await readMonthlyStatement(database, { accountId, month, keyId });
  if (statement) return statement;
  throw new ApiError('not_found', 'There is no such account, or it has no such key.');
}
