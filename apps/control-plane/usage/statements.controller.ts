import { Controller, Inject } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { ApiError } from '#platform/errors.js';
import { sendPdf } from '#platform/http/attachment.js';
import { readMonthlyStatement } from '#usage/statements/monthly-statement.js';
import { statementPdf } from '#usage/statements/statement.pdf.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { monthlyRoutes as routes } from './statements.routes.js';

/** Statements of a month: of one's own account, and of any for finance. */
@Controller()
export class StatementsController {
  constructor(@Inject(CONTROL_PLANE_CONFIG) private readonly config: ControlPlaneConfig) {}

  @Serves(routes.own)
  own(call: CallOf<typeof routes.own>): Promise<Readable> {
    return this.send(call, call.actor.accountId);
  }

  @Serves(routes.any)
  any(call: CallOf<typeof routes.any>): Promise<Readable> {
    return this.send(call, call.params.accountId);
  }

  private async send(
    { params: { month }, query, session, reply, database }: CallOf<typeof routes.own>,
    accountId: string,
  ): Promise<Readable> {
    const statement = await readMonthlyStatement(database, { accountId, month });
    if (!statement) throw new ApiError('not_found', 'There is no such account.');
    const language = query.language ?? session.language ?? 'en';
    const file = await statementPdf(statement, { issuer: this.config.payments.issuer, language });
    return sendPdf(reply, `statement-${month}.pdf`, file);
  }
}
