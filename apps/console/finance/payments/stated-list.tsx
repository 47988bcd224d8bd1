import { Group, Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { DataList, type ListTexts, type RowsProps } from '../../ui/lists/data-list.js';

/** The state in the address, unless it belongs to another tab. */
export function useStateOf<State extends string>(states: readonly State[]): State | undefined {
  const { state } = useSearch({ from: '/finance/payments' });
  return states.find((each) => each === state);
}

type StatedListProps<Row, State extends string> = RowsProps<Row> & {
  states: readonly State[];
  texts: ListTexts & { states: Record<NoInfer<State>, string> };
};

/** A list that can be narrowed to the rows in one state. */
export function StatedList<Row, State extends string>(props: StatedListProps<Row, State>) {
  const { t } = useTranslation('payments');
  return (
    <Stack>
      <Group>
        <Choice
          label={t('columns.state')}
          options={optionsOf(props.states, props.texts.states)}
          param="state"
        />
      </Group>
      <DataList {...props} />
    </Stack>
  );
}
