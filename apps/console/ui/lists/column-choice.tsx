import { ActionIcon, Menu } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconColumns3 } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { MENU } from './phone-row.js';

interface ChoosableColumn {
  id: string;
  header: string;
  isExtra?: boolean;
}

type Choose = (ids: string[]) => void;

/** The viewer's choice of columns, kept on the device under a name, and not part of the address that people share. */
export function useChosenColumns<Column extends ChoosableColumn>(
  columns: readonly Column[],
  name: string | undefined,
): [readonly Column[], Choose] {
  const key = `tollgate.columns.${name ?? ''}`;
  const [chosen, choose] = useLocalStorage<string[]>({ key, getInitialValueInEffect: false });
  // No default: it would be stored, and would hide the columns that a list gets later.
  const ids = name === undefined ? undefined : chosen;
  const shown = useMemo(() => {
    const wanted = columns.filter(({ id, isExtra }) => id === MENU || (ids?.includes(id) ?? !isExtra));
    return wanted.some(({ id }) => id !== MENU) ? wanted : columns;
  }, [columns, ids]);
  return [shown, choose];
}

interface ColumnChoiceProps {
  columns: readonly ChoosableColumn[];
  shown: readonly ChoosableColumn[];
  choose: Choose;
}

export function ColumnChoice(props: ColumnChoiceProps) {
  const { t } = useTranslation('shell');
  return (
    <div className="column-choice">
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('list.columns')} title={t('list.columns')}>
            <IconColumns3 size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Choices {...props} />
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function Choices({ columns, shown, choose }: ColumnChoiceProps) {
  const ids = shown.filter(({ id }) => id !== MENU).map(({ id }) => id);
  const choosable = columns.filter(({ id }) => id !== MENU);
  return choosable.map(({ id, header }) => {
    const isShown = ids.includes(id);
    const changed = isShown ? ids.filter((each) => each !== id) : [...ids, id];
    return (
      <Menu.CheckboxItem
        key={id}
        checked={isShown}
        disabled={changed.length === 0}
        onChange={() => choose(changed)}
      >
        {header}
      </Menu.CheckboxItem>
    );
  });
}
