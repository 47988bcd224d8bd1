import { refresh, type Item } from '../../api/queries.js';

export type Payment = Item<'/api/finance/topups'>;
export type Suspense = Item<'/api/finance/suspense'>;
export type Refund = Item<'/api/finance/topup-refunds'>;
export type Dispute = Item<'/api/finance/disputes'>;
export type PaymentEvent = Item<'/api/finance/payment-events'>;

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
