import type { TopupResult } from '#ledger/postings/topup.js';
import { viewAmount } from '#platform/http/fields.js';
import type { Done } from '#approvals/approval.service.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { type AnswerOf } from '../http/route.js';
import { financeRoutes } from './finance.routes.js';

/** Who asks, for the services of finance. */
export function asking(call: {
  actor: FinanceRequest['actor'];
  requestId: string;
  body: { requestId: string };
}): FinanceRequest {
  return { actor: call.actor, requestId: call.body.requestId, auditId: call.requestId };
}

/** Columns that must be so; what is not asked for is left out. */
export function filter(columns: Record<string, string | undefined>): [string, unknown][] {
  return Object.entries(columns).flatMap(([column, value]): [string, unknown][] =>
    value === undefined ? [] : [[`${column} = ?`, value]],
  );
}

export function viewCredited({ done, approvalId }: Done<TopupResult>): AnswerOf<typeof financeRoutes.record> {
  const topup = done && {
    id: done.topupId,
    credits: viewAmount(done.credits),
    balance: viewAmount(done.balance),
  };
  return { topup, approvalId };
}
