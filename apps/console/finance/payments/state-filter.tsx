import { Group } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Choice } from '../../ui/lists/choice.js';

/** The state in the address, unless it belongs to another tab. */
export function useStateOf<State extends string>(states: readonly State[]): State | undefined {
  const { state } = useSearch({ from: '/finance/payments' });
  return states.find((each) => each === state);
}

interface StateFilterProps<State extends string> {
  states: readonly State[];
  label: (state: State) => string;
}

export function StateFilter<State extends string>({ states, label }: StateFilterProps<State>) {
  const { t } = useTranslation('payments');
  return (
    <Group>
      <Choice
        label={t('columns.state')}
        options={states.map((value) => ({ value, label: label(value) }))}
        param="state"
      />
    </Group>
  );
}
