import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { matchTones } from './reconciliation.js';

interface MatchOutcomeProps {
  state: keyof typeof matchTones;
  /** Null if nothing is wrong. */
  reason: string | null;
  children?: ReactNode;
}

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

/** Why a payment does not match. */
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

/** Why a payout does not match its lines. */
export function usePayoutReason(): (payout: Shape<'Payout'>) => string | null {
  const { t } = useTranslation('reconciliation');
  return ({ state, lines }) => {
    if (state === 'matched') return null;
    if (state === 'not_covered' && lines === 0) return t('reasons.payouts.nothingCovers');
    return t(`reasons.payouts.${state}`, { count: lines });
  };
}

/** Why a bank line, or the entry that expects one, does not match. */
export function useBankReason(): (item: Shape<'BankItem'>) => string | null {
  const { t } = useTranslation('reconciliation');
  return ({ state }) => (state === 'matched' ? null : t(`reasons.bank.${state}`));
}
