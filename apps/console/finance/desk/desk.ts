import { refresh, type Item } from '../../api/queries.js';

export type Adjustment = Item<'/api/finance/adjustments'>;
export type WriteOff = Item<'/api/finance/write-offs'>;
export type Debtor = Item<'/api/finance/reports/debts'>;

export const reasons = ['goodwill', 'correction', 'migration', 'compensation'] as const;

/** What an adjustment, a write-off or a second signature changes. */
export function refreshDesk(): Promise<void> {
  return refresh(
    '/api/finance/adjustments',
    '/api/finance/write-offs',
    '/api/finance/reports/debts',
    '/api/approvals',
    '/api/finance/topups',
    '/api/finance/topup-refunds',
    '/api/finance/suspense',
    '/api/finance/controls',
    '/api/finance/controls/{controlId}/findings',
  );
}
