import type { TopupResult } from '#ledger/postings/topup.js';
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

/** Anything requested here can be repeated: what it did is found by its own IDs. */
export function askingOnce({
  actor,
  requestId,
}: {
  actor: FinanceRequest['actor'];
  requestId: string;
}): FinanceRequest {
  return { actor, requestId, auditId: requestId };
}

/** Conditions on columns. What is not requested is left out. */
export function filter(columns: Record<string, string | undefined>): [string, unknown][] {
  return Object.entries(columns).flatMap(([column, value]): [string, unknown][] =>
    value === undefined ? [] : [[`${column} = ?`, value]],
  );
}

export function viewCredited({ done, approvalId }: Done<TopupResult>): AnswerOf<typeof financeRoutes.record> {
  return { topup: done && { ...done, id: done.topupId }, approvalId };
}
