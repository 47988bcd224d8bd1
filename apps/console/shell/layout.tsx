import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Confirmation } from './confirmation.js';
import { AccountMenu, DocsLink, LanguageMenu, Logo, ThemeMenu, VisitorLinks } from './header.js';
import { OnePersonBanner } from './one-person.js';
import { SecondFactorAdvice, SecondFactorPage } from './second-factor.js';
import { Palette } from './palette.js';
import { useFirstMailLanguage } from './mail-language.js';
import { useSession } from './session.js';
import { Navigation } from './sidebar.js';
import { ViewingBanner } from './viewing.js';

/** The frame of all pages: header, navigation of those who are signed in, content. */
export function Layout() {
  const { t } = useTranslation('shell');
  const session = useSession();
  useFirstMailLanguage(session);
  const isHeldBack = session?.secondFactor === 'required';
  const hasNavigation = session && !isHeldBack;
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(close, [path, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      {...(hasNavigation ? { navbar: { width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } } } : {})}
      padding="md"
      className={hasNavigation ? '' : 'without-navigation'}
    >
      <a href="#content" className="skip-link">
        {t('skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap">
            {hasNavigation && <NavigationButton isOpen={isOpen} toggle={toggle} />}
            <Logo />
          </Group>
          <Group gap="xs" wrap="nowrap">
            {!session && <VisitorLinks />}
            {hasNavigation && <Palette session={session} />}
            <DocsLink />
            <LanguageMenu />
            <ThemeMenu />
            {session && <AccountMenu session={session} />}
          </Group>
        </Group>
      </AppShell.Header>
      {hasNavigation && <Navigation session={session} />}
      <AppShell.Main id="content" tabIndex={-1}>
        {session?.viewing && <ViewingBanner viewing={session.viewing} />}
        {session?.secondFactor === 'advised' && !session.viewing && <SecondFactorAdvice />}
        {session && <OnePersonBanner />}
        {isHeldBack ? <SecondFactorPage /> : <Outlet />}
      </AppShell.Main>
      {session && <Confirmation session={session} />}
    </AppShell>
  );
}

function NavigationButton({ isOpen, toggle }: { isOpen: boolean; toggle: () => void }) {
  const { t } = useTranslation('shell');
  return (
    <Burger
      opened={isOpen}
      onClick={toggle}
      hiddenFrom="sm"
      size="sm"
      aria-label={isOpen ? t('nav.close') : t('nav.open')}
      aria-expanded={isOpen}
    />
  );
}
