import { Box, Menu } from '@mantine/core';
import { IconCopy, IconDots, IconFilter } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notify, notifyFailure } from '../../shell/notices.js';
import { useFilter } from '../address.js';
import { COPIES, type RowAction } from './row-actions.js';

/** The menu is only rendered while it is open: lists have many rows, and most menus are never opened. */
export function RowMenu({ actions }: { actions: () => readonly RowAction[] }) {
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
  return (
    <Menu
      opened
      onChange={close}
      position="bottom-end"
      returnFocus={false}
      // Focuses the first action, not the library's invisible element before it.
      withInitialFocusPlaceholder={false}
      menuItemTabIndex={0}
    >
      {/* Covers the button, so that clicking it again closes the menu. */}
      <Menu.Target>
        <Box component="span" aria-hidden className="row-menu-place" onClick={stopped} />
      </Menu.Target>
      {/* React would pass its clicks to the row. */}
      <Menu.Dropdown aria-label={t('list.actions')} onClick={stopped}>
        {actions.map((action) => (
          <Item key={'copy' in action ? action.copy : action.what} action={action} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Item({ action }: { action: RowAction }) {
  const { t } = useTranslation('shell');
  const set = useFilter({ replace: false });
  const copy = useCopy();
  if ('copy' in action)
    return (
      <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => void copy(action.copy)}>
        {t(COPIES[action.of ?? 'id'])}
      </Menu.Item>
    );
  return (
    <Menu.Item leftSection={<IconFilter size={16} aria-hidden />} onClick={() => set(action.only)}>
      {t('list.only', { what: action.what ?? t('list.account') })}
    </Menu.Item>
  );
}

function useCopy(): (value: string) => Promise<void> {
  const { t } = useTranslation('shell');
  return async (value) => {
    try {
      await navigator.clipboard.writeText(value);
      notify(t('copied'));
    } catch {
      // Pages without encryption have no clipboard, and people can deny access to it.
      notifyFailure(t('copyFailed'));
    }
  };
}

function stopped(event: { stopPropagation: () => void }): void {
  event.stopPropagation();
}
