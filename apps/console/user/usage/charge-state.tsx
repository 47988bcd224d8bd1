import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

const TONES: Record<Shape<'Charge'>['state'], Tone> = {
  held: 'busy',
  settled: 'good',
  released: 'quiet',
  refused: 'bad',
};

/** The hint says what the state means for the balance. */
export function ChargeBadge({ charge: { state } }: { charge: Pick<Shape<'Charge'>, 'state'> }) {
  const { t } = useTranslation('calls');
  return (
    <StatusBadge tone={TONES[state]} hint={t(`chargeHints.${state}`)}>
      {t(`chargeStates.${state}`)}
    </StatusBadge>
  );
}
