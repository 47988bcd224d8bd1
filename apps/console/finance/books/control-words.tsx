import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { StatusBadge } from '../../ui/status-badge.js';
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

const findingStates = [
  'missing_here',
  'missing_there',
  'differs',
  'twice',
  'overdue',
  'not_covered',
  'report_overdue',
  'charged_without_work',
  'work_without_charge',
  'failed_without_release',
  'not_refunded',
  'unlinked',
  'no_order',
  'other_amount',
  'other_currency',
  'paid_twice',
  'unknown_refund',
  'refund_failed',
  'dispute_beyond_payment',
  'provider_adjustment',
  'unknown_cost',
  'row_missing',
  'hash_differs',
  'unsealed',
  'violated',
  'not_frozen',
  'frozen_without_debt',
  'approval_missing',
  'below_zero',
  'failed_and_settled',
  'late',
  'task_missing',
  'charge_missing',
  'summary_differs',
  'behind',
  'lines_missing',
  'refused',
] as const;

/** What is wrong, in a word. */
export function FindingBadge({ finding: { state } }: { finding: Pick<Shape<'Finding'>, 'state'> }) {
  const { t } = useTranslation('finance');
  const known = findingStates.find((each) => each === state);
  return <StatusBadge tone="bad">{known ? t(`findings.states.${known}`) : state}</StatusBadge>;
}
