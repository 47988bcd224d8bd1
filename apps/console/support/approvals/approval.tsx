import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

const TONES: Record<Shape<'Approval'>['state'], Tone> = {
  pending: 'waiting',
  approved: 'good',
  rejected: 'quiet',
};

export function ApprovalBadge({ state }: { state: Shape<'Approval'>['state'] }) {
  const { t } = useTranslation('support');
  return <StatusBadge tone={TONES[state]}>{t(`approvals.states.${state}`)}</StatusBadge>;
}

const KINDS = [
  'charge.refund',
  'topup.manual',
  'topup.refund',
  'suspense.credit',
  'suspense.return',
  'suspense.expense',
  'adjustment',
  'adjustment.reversal',
  'account.deletion',
  'write-off',
  'write-off.reversal',
  'period.waiver',
  'provider-line.acceptance',
  'provider-line.booking',
  'person.roles',
  'group.models',
  'group.open',
  'channel.routes',
] as const;

/** The name of an approval's type, or its code if it has none. */
export function useKindName(): (kind: string) => string {
  const { t } = useTranslation('support');
  return (kind) => {
    const known = KINDS.find((each) => each === kind);
    return known ? t(`approvals.kinds.${nameOf(known)}`) : kind;
  };
}

/** Text keys cannot contain dots. */
function nameOf(kind: (typeof KINDS)[number]) {
  return kind.replace('.', '-') as 'charge-refund';
}
