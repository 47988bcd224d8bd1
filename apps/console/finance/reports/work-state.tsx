import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import type { Shape } from '../../api/client.js';
import { StatusBadge } from '../../ui/status-badge.js';

/** States of a charge and its work; all but the first two are faults. */
export const workOutcomes = everyWord<Shape<'ChargeTaskItem'>['state']>()(
  'matched',
  'running',
  'charged_without_work',
  'work_without_charge',
  'failed_without_release',
  'failed_and_settled',
  'late',
  'task_missing',
  'charge_missing',
);

type State = (typeof workOutcomes)[number];

export function WorkBadge({ state, count }: { state: State; count?: number }) {
  const { t } = useTranslation('reports');
  const tone = state === 'matched' ? 'good' : state === 'running' ? 'busy' : 'bad';
  return (
    <StatusBadge tone={tone}>
      {t(`charges.states.${state}`)}
      {count !== undefined && ` · ${count}`}
    </StatusBadge>
  );
}
