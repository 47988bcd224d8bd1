import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/client.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

type State = Item<'/api/support/accounts/{accountId}/usage'>['state'];

const TONES: Record<State, Tone> = { held: 'busy', settled: 'good', released: 'quiet', refused: 'bad' };

export function StaffChargeBadge({ state }: { state: State }) {
  const { t } = useTranslation('support');
  return <StatusBadge tone={TONES[state]}>{t(`usage.states.${state}`)}</StatusBadge>;
}
