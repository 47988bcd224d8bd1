import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { matchTones } from './reconciliation.js';

interface MatchOutcomeProps {
  state: keyof typeof matchTones;
  /** What is wrong, in a sentence; null: nothing is. */
  reason: string | null;
  children?: ReactNode;
}

/** How a comparison came out. */
export function MatchOutcome({ state, reason, children }: MatchOutcomeProps) {
  const { t } = useTranslation('reconciliation');
  return (
    <Stack gap="tiny" align="flex-start">
      <StatusBadge tone={matchTones[state]}>{t(`states.${state}`)}</StatusBadge>
      {reason !== null && <Text size="xs">{reason}</Text>}
      {children}
    </Stack>
  );
}

/** Why a payment of the two sides is in its state. */
export function usePaymentReason(): (match: Shape<'Match'>) => string | null {
  const { t } = useTranslation('reconciliation');
  return (match) => {
    const { state, ours } = match;
    if (state === 'matched') return null;
    if (state === 'waiting' && ours === null) return t('reasons.payments.justHappened');
    if (state === 'twice' && (ours?.transactionIds.length ?? 0) > 1) return t('reasons.payments.twiceHere');
    if (state === 'differs' && match.changed) return t('reasons.payments.versions');
    return t(`reasons.payments.${state}`);
  };
}

/** The same of a payout and the lines that name it. */
export function usePayoutReason(): (payout: Shape<'Payout'>) => string | null {
  const { t } = useTranslation('reconciliation');
  return ({ state, lines }) => {
    if (state === 'matched') return null;
    if (state === 'not_covered' && lines === 0) return t('reasons.payouts.nothingCovers');
    return t(`reasons.payouts.${state}`, { count: lines });
  };
}

/** The same of a line at the bank, or of what should be there. */
export function useBankReason(): (item: Shape<'BankItem'>) => string | null {
  const { t } = useTranslation('reconciliation');
  return ({ state }) => (state === 'matched' ? null : t(`reasons.bank.${state}`));
}
