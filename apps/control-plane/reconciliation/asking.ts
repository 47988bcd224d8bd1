import type { FinanceRequest } from '#payments/finance-credit.js';

/** Whatever is asked for here can be asked for again: what it did is found by its own ids. */
export function asking({
  actor,
  requestId,
}: {
  actor: FinanceRequest['actor'];
  requestId: string;
}): FinanceRequest {
  return { actor, requestId, auditId: requestId };
}
