import { ActionIcon, Group, useMantineColorScheme } from '@mantine/core';
import { IconBook, IconLanguage, IconUserCircle } from '@tabler/icons-react';
import { lazyRouteComponent as lazy } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { ButtonLink, TextLink } from '../ui/links.js';
import { HeaderButton, type HeaderButtonProps } from './header-button.js';
import { schemes } from './theme.js';

const LanguageMenu = lazy(() => import('./menus.js'), 'LanguageMenu');
const ThemeMenu = lazy(() => import('./menus.js'), 'ThemeMenu');
const AccountMenu = lazy(() => import('./menus.js'), 'AccountMenu');

export function Logo() {
  return (
    <TextLink to="/" c="inherit" fw={700} underline="never" className="logo">
      <img src="/icon.svg" alt="" width={24} height={24} />
      <span>Tollgate</span>
    </TextLink>
  );
}

/** For visitors. On narrow screens the marketplace is on the landing page only. */
export function VisitorLinks() {
  const { t } = useTranslation('shell');
  return (
    <Group gap="xs" wrap="nowrap" component="nav" aria-label={t('nav.pages')}>
      <ButtonLink to="/marketplace" variant="subtle" size="compact-sm" visibleFrom="sm">
        {t('nav.marketplace')}
      </ButtonLink>
      <ButtonLink to="/sign-in" variant="subtle" size="compact-sm">
        {t('nav.signIn')}
      </ButtonLink>
      <ButtonLink to="/sign-up" size="compact-sm" visibleFrom="xs">
        {t('nav.signUp')}
      </ButtonLink>
    </Group>
  );
}

/** The documentation is a separate site. */
export function DocsLink() {
  const { t } = useTranslation('shell');
  return (
    <ActionIcon component="a" href="/docs/" variant="subtle" color="gray" size="lg" aria-label={t('docs')}>
      <IconBook size={20} aria-hidden />
    </ActionIcon>
  );
}

interface MenuButtonProps extends Pick<HeaderButtonProps, 'label' | 'icon'> {
  load: () => Promise<void> | undefined;
  /** The menu, which has the same button. */
  children: ReactNode;
}

/** The menu code is a sixth of the first page, so it loads when somebody reaches for a menu button. */
function MenuButton({ load, children, ...button }: MenuButtonProps) {
  const [isWanted, setWanted] = useState(false);
  if (isWanted) return children;
  const preload = () => void load();
  const open = async () => {
    await load();
    setWanted(true);
  };
  return (
    <HeaderButton
      {...button}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => void open()}
    />
  );
}

export function LanguageButton() {
  const { t } = useTranslation('shell');
  return (
    <MenuButton label={t('language')} icon={IconLanguage} load={() => LanguageMenu.preload?.()}>
      <LanguageMenu />
    </MenuButton>
  );
}

export function ThemeButton() {
  const { t } = useTranslation('shell');
  const { colorScheme } = useMantineColorScheme();
  return (
    <MenuButton label={t('theme.choose')} icon={schemes[colorScheme]} load={() => ThemeMenu.preload?.()}>
      <ThemeMenu />
    </MenuButton>
  );
}

export function AccountButton({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  return (
    <MenuButton label={t('account')} icon={IconUserCircle} load={() => AccountMenu.preload?.()}>
      <AccountMenu session={session} />
    </MenuButton>
  );
}
