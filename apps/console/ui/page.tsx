import { Group, Stack, Text, Title } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useRef } from 'react';

/** The title of the page, tab or section that something is in. */
export const Titled = createContext('');

export function useTitle(): string {
  return useContext(Titled);
}

interface PageProps {
  title: string;
  /** A sentence below the title. */
  about?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** Shown beside a larger title with the actions below it, on the landing page. */
  picture?: ReactNode;
  /** In rem; narrow forms are easier to read. */
  width?: number;
  /** Centred, for pages without navigation; others are aligned left. */
  isCentred?: boolean;
  children: ReactNode;
}

/** Longer lines are hard to read. */
const WIDEST = 75;

let isFirstPage = true;

function useHeading() {
  const heading = useRef<HTMLHeadingElement>(null);
  // Removes the heading that the server drew.
  useLayoutEffect(() => document.getElementById('first-paint')?.remove(), []);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return heading;
}

/** The frame of every page. After a link was followed its heading has the focus, so that screen readers announce it. */
export function PageFrame(props: PageProps) {
  const { title, picture, width = WIDEST, isCentred = picture !== undefined, children } = props;
  return (
    <Stack
      gap="lg"
      className="page"
      w="100%"
      maw={`${isCentred ? width : WIDEST}rem`}
      style={{ '--page-width': `${width}rem` }}
    >
      <title>{`${title} · Tollgate`}</title>
      <Top {...props} />
      <Titled value={title}>{children}</Titled>
    </Stack>
  );
}

function Top(props: PageProps) {
  const { actions, picture } = props;
  if (picture !== undefined)
    return (
      <div className="hero">
        <Head {...props} />
        {picture}
      </div>
    );
  return (
    <Group justify="space-between" align="flex-start">
      <Head {...props} />
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}

function Head({ title, about, actions, picture }: PageProps) {
  const heading = useHeading();
  const isHero = picture !== undefined;
  return (
    <div className="page-head">
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

export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Stack component="section" gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h3">
          {title}
        </Title>
        {aside}
      </Group>
      <Titled value={title}>{children}</Titled>
    </Stack>
  );
}
