import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { useFindingTexts } from './finding-words.js';
import { controlTones, namedControl } from './controls.js';

/** What controls are called and compare, in the language that is shown where it has words for it. */
export function useControlWords() {
  const { t } = useTranslation('finance');
  return {
    titleOf: ({ id, title }: Pick<Shape<'ControlStanding'>, 'id' | 'title'>): string => {
      const known = namedControl(id);
      return known ? t(`controls.titles.${known}`) : title;
    },
    explanationOf: ({ id, explanation }: Pick<Shape<'ControlStanding'>, 'id' | 'explanation'>): string => {
      const known = namedControl(id);
      return known ? t(`controls.explanations.${known}`) : explanation;
    },
  };
}

/** How a control stood when it last looked. */
export function ControlLight({
  control: { state, count },
}: {
  control: Pick<Shape<'ControlStanding'>, 'state' | 'count'>;
}) {
  const { t } = useTranslation('finance');
  return (
    <StatusBadge tone={controlTones[state]}>
      {state === 'red' ? t('controls.items', { count: count ?? 0 }) : t(`controls.states.${state}`)}
    </StatusBadge>
  );
}

/** Why a control could not run; the log has the details. */
export function useControlFault(): (
  control: Pick<Shape<'ControlStanding'>, 'state' | 'fault'>,
) => string | null {
  const { t } = useTranslation('finance');
  return ({ state, fault }) => (state === 'error' ? t(`controls.faults.${fault ?? 'failed'}`) : null);
}

/** What is wrong, in a word. */
export function FindingBadge({ finding: { state } }: { finding: Pick<Shape<'Finding'>, 'state'> }) {
  const { wordOf } = useFindingTexts();
  return <StatusBadge tone="bad">{wordOf(`states.${state}`, state)}</StatusBadge>;
}
