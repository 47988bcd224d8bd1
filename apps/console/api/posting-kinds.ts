/** Types of postings on a customer's balances. */
export const statementKinds = [
  'topup',
  'hold',
  'settle',
  'release',
  'charge_refund',
  'invite-reward',
  'invite-transfer',
  'reward-clawback',
  'reward-returned',
  'topup-refund',
  'topup-refunded',
  'topup-refund-returned',
  'chargeback',
  'chargeback-won',
  'adjustment',
  'adjustment-reversed',
  'forfeited',
  'write-off',
] as const;

/** Types of postings with a name in the finance pages. */
export const postingKinds = [
  ...statementKinds,
  'recognition',
  'write-off-reversed',
  'suspense',
  'suspense-returned',
  'suspense-expensed',
  'psp-fee',
  'payout',
  'payout-returned',
  'bank-transfer',
  'bank-transfer-undone',
  'upstream_cost',
  'upstream_bill',
] as const;
