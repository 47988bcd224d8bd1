import { UnstyledButton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useSingleKeys } from './single-keys.js';

const PaletteDialog = lazy(() => import('./palette-dialog.js'));
const Shortcuts = lazy(() => import('./shortcuts.js'));

type Part = 'palette' | 'shortcuts';

/** Ctrl-K or Cmd-K: finds pages by name, and anything by its id. */
export function SearchButton({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  const [open, setOpen] = useState<Part | null>(null);
  /** Those that were opened before: they are loaded, and close with their animation. */
  const [loaded, setLoaded] = useState<readonly Part[]>([]);
  const show = (part: Part) => {
    setLoaded((before) => [...new Set([...before, part])]);
    setOpen(part);
  };
  const close = () => setOpen(null);
  useShortcuts(show);
  return (
    <>
      <UnstyledButton
        className="search-button"
        aria-label={t('palette.search')}
        data-keys={t('palette.keys')}
        onClick={() => show('palette')}
      >
        <IconSearch size={18} aria-hidden />
        <span>{t('palette.search')}</span>
      </UnstyledButton>
      <Suspense fallback={null}>
        {loaded.includes('palette') && (
          <PaletteDialog session={session} isOpen={open === 'palette'} close={close} />
        )}
        {loaded.includes('shortcuts') && <Shortcuts isOpen={open === 'shortcuts'} close={close} />}
      </Suspense>
    </>
  );
}

/** `/` goes to the search of the page, or of everything on pages that have none. Keys are letters in fields. */
function useShortcuts(show: (part: Part) => void): void {
  const [hasSingleKeys] = useSingleKeys();
  const search = () => {
    if (!isWindowOpen() && !focusSearch()) show('palette');
  };
  const list = () => {
    if (!isWindowOpen()) show('shortcuts');
  };
  useHotkeys([['mod+K', () => show('palette')]], []);
  useHotkeys(
    hasSingleKeys
      ? [
          ['/', search],
          // For layouts where it needs Shift.
          ['shift+/', search],
          ['shift+?', list],
        ]
      : [],
  );
}

function isWindowOpen(): boolean {
  return document.querySelector('[role="dialog"]') !== null;
}

/** Whether the page has a search of its own, which then has the focus. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLElement>('main input[type="search"]');
  field?.focus();
  return field !== null;
}
