import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';

interface PageProps {
  title: string;
  /** A sentence below the title. */
  about?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** Beside a larger title that has the actions below it, on the page that strangers arrive at. */
  picture?: ReactNode;
  /** Rem; forms are easier to read when they are narrow. */
  width?: number;
  /** In the middle where there is no navigation; other pages begin at one edge, however wide they are. */
  isCentred?: boolean;
  children: ReactNode;
}

/** Longer lines are hard to follow with the eye. */
const WIDEST = 75;

let isFirstPage = true;

function useHeading() {
  const heading = useRef<HTMLHeadingElement>(null);
  // The server drew the head of the landing page, until there is a page.
  useLayoutEffect(() => document.getElementById('first-paint')?.remove(), []);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return heading;
}

/**
 * The frame of every page: its title in the tab and as heading. After following a link the heading has the focus, so that
 * screen readers say where one has come to.
 */
export function PageFrame(props: PageProps) {
  const { title, actions, picture, width = WIDEST, children } = props;
  const isHero = picture !== undefined;
  const { isCentred = isHero } = props;
  return (
    <Stack
      gap="lg"
      className="page"
      w="100%"
      maw={`${isCentred ? width : WIDEST}rem`}
      style={{ '--page-width': `${width}rem` }}
    >
      <title>{`${title} · Tollgate`}</title>
      {isHero ? (
        <div className="hero">
          <Head {...props} />
          {picture}
        </div>
      ) : (
        <Group justify="space-between" align="flex-start">
          <Head {...props} />
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      {children}
    </Stack>
  );
}

function Head({ title, about, actions, picture }: PageProps) {
  const heading = useHeading();
  const isHero = picture !== undefined;
  return (
    <div>
      <Title
        ref={heading}
        order={1}
        size="h2"
        tabIndex={-1}
        className={isHero ? 'page-title hero-title' : 'page-title'}
      >
        {title}
      </Title>
      {about && (
        <Text c="dimmed" className={isHero ? 'hero-about' : undefined}>
          {about}
        </Text>
      )}
      {isHero && <div className="hero-actions">{actions}</div>}
    </div>
  );
}
