import { refresh, type Item } from '../../api/queries.js';

export type Refund = Item<'/api/finance/topup-refunds'>;

/** What money that comes in or goes back changes. */
export function refreshPayments(): Promise<void> {
  return refresh(
    '/api/finance/topups',
    '/api/finance/suspense',
    '/api/finance/topup-refunds',
    '/api/approvals',
    '/api/finance/reconciliation/payments',
    '/api/finance/reconciliation/payment-days',
    '/api/finance/controls',
    '/api/finance/controls/{controlId}/findings',
  );
}
