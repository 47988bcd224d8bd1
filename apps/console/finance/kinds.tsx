import { useTranslation } from 'react-i18next';

/** Kinds of transactions of the ledger that have a name here; others are shown as the ledger has them. */
const postingKinds = [
  'topup',
  'hold',
  'settle',
  'release',
  'charge_refund',
  'recognition',
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

/** What a posting is, in words. */
export function KindOfPosting({ kind }: { kind: string }) {
  const { t } = useTranslation('finance');
  const known = postingKinds.find((each) => each === kind);
  return known ? t(`kinds.${known}`) : kind;
}
