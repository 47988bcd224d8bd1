import { refresh } from '../../api/queries.js';

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
