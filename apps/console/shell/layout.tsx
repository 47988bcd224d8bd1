import { Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { Confirmation } from './confirmation.js';
import { AccountButton, DocsLink, LanguageButton, Logo, ThemeButton, VisitorLinks } from './header.js';
import {
  LazyOnePersonBanner,
  LazySecondFactorAdvice,
  LazySecondFactorPage,
  LazyViewingBanner,
} from './late-parts.js';
import { useFirstMailLanguage } from './mail-language.js';
import { mayAny, STAFF, useOwnState, useSession } from './session.js';
import { Navigation, Palette, Tabs } from './navigation/late-navigation.js';

/** The frame of all pages: header, navigation and content. */
export function Layout() {
  const session = useSession();
  useFirstMailLanguage(session);
  // The session is read again as soon as the factor is set up, while its recovery codes are still shown.
  const [isHeld, hold] = useOwnState<true>();
  const isHeldBack = session?.secondFactor === 'required' || isHeld !== null;
  const hasNavigation = session !== null && !isHeldBack;
  const [isOpen, toggle] = useOpenNavigation();
  return (
    <div
      className={hasNavigation ? 'frame' : 'frame without-navigation'}
      data-viewing={session?.viewing ? true : undefined}
    >
      <SkipLink />
      <header className="frame-header">
        <Group gap="sm" wrap="nowrap">
          {hasNavigation && <NavigationButton isOpen={isOpen} toggle={toggle} />}
          <Logo />
        </Group>
        <Tools session={session} hasPalette={hasNavigation} />
      </header>
      {hasNavigation && <LeftNavigation session={session} isOpen={isOpen} />}
      <Content session={session} isHeldBack={isHeldBack} hold={hold} />
      {session && <Confirmation session={session} />}
    </div>
  );
}

/** On phones the navigation covers the page, until people open another one. */
function useOpenNavigation() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(close, [path, close]);
  return [isOpen, toggle] as const;
}

function SkipLink() {
  const { t } = useTranslation('shell');
  return (
    <a href="#content" className="skip-link">
      {t('skip')}
    </a>
  );
}

function Tools({ session, hasPalette }: { session: Shape<'Session'> | null; hasPalette: boolean }) {
  return (
    <div className="frame-tools">
      {!session && <VisitorLinks />}
      {session && hasPalette && (
        <Suspense fallback={null}>
          <Palette session={session} />
        </Suspense>
      )}
      <DocsLink />
      <LanguageButton />
      <ThemeButton />
      {session && <AccountButton session={session} />}
    </div>
  );
}

function LeftNavigation({ session, isOpen }: { session: Shape<'Session'>; isOpen: boolean }) {
  const { t } = useTranslation('shell');
  return (
    <nav className="frame-navigation" data-open={isOpen} aria-label={t('nav.pages')}>
      <Suspense fallback={null}>
        <Navigation session={session} />
      </Suspense>
    </nav>
  );
}

interface ContentProps {
  session: Shape<'Session'> | null;
  isHeldBack: boolean;
  hold: (isHeld: true | null) => void;
}

/** The page, or what people must do first. */
function Content({ session, isHeldBack, hold }: ContentProps) {
  return (
    <main id="content" tabIndex={-1} className="frame-content">
      {session && (
        <Suspense fallback={null}>
          <Above session={session} isHeldBack={isHeldBack} />
        </Suspense>
      )}
      {isHeldBack ? (
        <Suspense fallback={null}>
          <LazySecondFactorPage hold={() => hold(true)} release={() => hold(null)} />
        </Suspense>
      ) : (
        <Outlet />
      )}
    </main>
  );
}

/** Banners, and the tabs of this page. */
function Above({ session, isHeldBack }: { session: Shape<'Session'>; isHeldBack: boolean }) {
  const { viewing, secondFactor, userId } = session;
  return (
    <>
      {viewing && <LazyViewingBanner viewing={viewing} />}
      {secondFactor === 'advised' && !viewing && <LazySecondFactorAdvice userId={userId} />}
      {mayAny(session, STAFF) && <LazyOnePersonBanner />}
      {!isHeldBack && <Tabs session={session} />}
    </>
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
