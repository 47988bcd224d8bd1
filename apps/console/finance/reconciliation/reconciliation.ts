import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import type { Tone } from '../../ui/status-badge.js';

export const matchTones: Record<
  Shape<'Match'>['state'] | Shape<'Payout'>['state'] | Shape<'BankItem'>['state'],
  Tone
> = {
  matched: 'good',
  accepted: 'quiet',
  set_aside: 'quiet',
  waiting: 'waiting',
  unlinked: 'quiet',
  not_covered: 'bad',
  lines_missing: 'bad',
  refused: 'bad',
  missing_here: 'bad',
  missing_there: 'bad',
  differs: 'bad',
  twice: 'bad',
};

/** What an import or a decision about a line changes. */
export function refreshReconciliation(): Promise<void> {
  return refresh(
    '/api/finance/reconciliation/payments',
    '/api/finance/reconciliation/payment-days',
    '/api/finance/reconciliation/payouts',
    '/api/finance/reconciliation/bank',
    '/api/finance/provider-reports',
    '/api/finance/provider-reports/coverage',
    '/api/finance/provider-lines/{provider}/{lineId}',
    '/api/finance/suspense',
    '/api/finance/controls',
    '/api/finance/controls/{controlId}/findings',
  );
}
