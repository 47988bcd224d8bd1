import { Box, Menu } from '@mantine/core';
import { IconCopy, IconDots, IconFilter } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notify, notifyFailure } from '../../shell/notices.js';
import { useFilter } from '../address.js';

/** What people do with a row at once. */
export type RowAction =
  /** Without a label it is the id of the row. */
  | { copy: string; label?: string }
  /** Narrows the list to what the address then says, in words such as the name of a model. */
  | { only: object; what: string };

interface RowMenuProps {
  actions: () => readonly RowAction[];
}

/** The button of a row, and its menu while that is open: lists have many rows, and most menus are never opened. */
export function RowMenu({ actions }: RowMenuProps) {
  const { t } = useTranslation('shell');
  const [isOpen, open] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    open(false);
    button.current?.focus({ preventScroll: true });
  };
  return (
    <span className="row-menu" data-open={isOpen || undefined}>
      <button
        ref={button}
        type="button"
        aria-label={t('list.actions')}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => open(true)}
      >
        <IconDots size={16} aria-hidden />
      </button>
      {isOpen && <OpenMenu actions={actions()} close={close} />}
    </span>
  );
}

function OpenMenu({ actions, close }: { actions: readonly RowAction[]; close: () => void }) {
  const { t } = useTranslation('shell');
  const set = useFilter({ replace: false });
  const copy = useCopy();
  return (
    <Menu
      opened
      onChange={close}
      position="bottom-end"
      returnFocus={false}
      // The first action has the focus: the library's invisible line before it is no part of a menu.
      withInitialFocusPlaceholder={false}
      menuItemTabIndex={0}
    >
      {/* Over the button, which closes what it opened. */}
      <Menu.Target>
        <Box component="span" aria-hidden className="row-menu-place" onClick={stopped} />
      </Menu.Target>
      {/* It is elsewhere on the page, but its clicks would reach the row. */}
      <Menu.Dropdown aria-label={t('list.actions')} onClick={stopped}>
        {actions.map((action) =>
          'copy' in action ? (
            <Menu.Item
              key={action.copy}
              leftSection={<IconCopy size={16} aria-hidden />}
              onClick={() => void copy(action.copy)}
            >
              {action.label ?? t('list.copyId')}
            </Menu.Item>
          ) : (
            <Menu.Item
              key={action.what}
              leftSection={<IconFilter size={16} aria-hidden />}
              onClick={() => set(action.only)}
            >
              {t('list.only', { what: action.what })}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function useCopy(): (value: string) => Promise<void> {
  const { t } = useTranslation('shell');
  return async (value) => {
    try {
      await navigator.clipboard.writeText(value);
      notify(t('copied'));
    } catch {
      // Pages that are not encrypted have no clipboard, and people may keep it from others.
      notifyFailure(t('copyFailed'));
    }
  };
}

function stopped(event: { stopPropagation: () => void }): void {
  event.stopPropagation();
}
