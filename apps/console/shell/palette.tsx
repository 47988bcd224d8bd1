import { UnstyledButton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/shape.js';

const PaletteDialog = lazy(() => import('./palette-dialog.js'));

/** Ctrl-K or Cmd-K: finds pages by name, and anything by its id. */
export function Palette({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  /** Null until it is first opened, which loads it. */
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const open = () => setOpen(true);
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <UnstyledButton
        className="search-button"
        aria-label={t('palette.search')}
        data-keys={t('palette.keys')}
        onClick={open}
      >
        <IconSearch size={18} aria-hidden />
        <span>{t('palette.search')}</span>
      </UnstyledButton>
      {isOpen !== null && (
        <Suspense fallback={null}>
          <PaletteDialog session={session} isOpen={isOpen} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
