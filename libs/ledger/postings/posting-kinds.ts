/** Kinds of postings on a customer's balances. */
export const customerPostings = [
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
  'write-off',
  'write-off-reversed',
  'forfeited',
] as const;

export const postingKinds = [
  ...customerPostings,
  'recognition',
  'suspense',
  'suspense-returned',
  'suspense-expensed',
  'psp-fee',
  'payout',
  'payout-returned',
  'report-line-change',
  'bank-transfer',
  'bank-transfer-undone',
  'upstream_cost',
  'upstream_bill',
] as const;

export type PostingKind = (typeof postingKinds)[number];
