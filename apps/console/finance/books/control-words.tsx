import type { AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { TextLink } from '../../ui/links.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { useFindingTexts } from './finding-words.js';
import { controlTones, namedControl } from './controls.js';

/** Titles and explanations of controls, translated if this console knows them. */
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

interface ControlLinkProps extends Pick<AnchorProps, 'size' | 'className'> {
  id: string;
  children: ReactNode;
}

export function ControlLink({ id, ...link }: ControlLinkProps) {
  return <TextLink to="/finance/controls/$controlId" params={{ controlId: id }} {...link} />;
}

/** The result of a control's last run. */
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

/** Why a control could not run. The log has the details. */
export function useControlFault(): (
  control: Pick<Shape<'ControlStanding'>, 'state' | 'fault'>,
) => string | null {
  const { t } = useTranslation('finance');
  return ({ state, fault }) => (state === 'error' ? t(`controls.faults.${fault ?? 'failed'}`) : null);
}

export function FindingBadge({ finding: { state } }: { finding: Pick<Shape<'Finding'>, 'state'> }) {
  const { wordOf } = useFindingTexts();
  return <StatusBadge tone="bad">{wordOf(`states.${state}`, state)}</StatusBadge>;
}
