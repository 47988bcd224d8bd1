import { Alert, Button, Code, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { asFailure } from '../api/failure.js';
import { useFilter } from './address.js';
import { useFailureText } from './failure-text.js';

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
      {children}
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
      {children}
    </Stack>
  );
}

interface EmptyStateProps {
  title: string;
  /** How to get something here, in one sentence. */
  hint: string;
  /** A button or link for that. */
  action?: ReactNode;
}

/** Shown for an empty list or chart. */
export function EmptyState({ title, hint, action }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <Text fw={600}>{title}</Text>
      <Text c="dimmed" maw="34rem" className="balanced">
        {hint}
      </Text>
      {action}
    </Stack>
  );
}

/** Shown when something failed, with the request id for support. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation('shell');
  const failure = asFailure(error);
  const { text, details } = useFailureText()(failure);
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t('failure.title')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text}</Text>
        {details !== null && (
          <Text size="sm" lang="en">
            {details}
          </Text>
        )}
        {failure.requestId && (
          <Text size="sm">
            {t('failure.requestId')} <Code>{failure.requestId}</Code>
          </Text>
        )}
        {retry && <TryAgain retry={retry} field={failure.param} />}
      </Stack>
    </Alert>
  );
}

/** Retrying does not help if the server refused a filter in the address, so this removes it. */
function TryAgain({ retry, field }: { retry: () => void; field: string | null }) {
  const { t } = useTranslation('shell');
  const search: Record<string, unknown> = useSearch({ strict: false });
  const set = useFilter();
  const isOfAddress = field !== null && search[field] !== undefined;
  return (
    <Button size="xs" variant="default" onClick={isOfAddress ? () => set({ [field]: undefined }) : retry}>
      {!isOfAddress ? t('failure.retry') : field === 'cursor' ? t('list.first') : t('failure.withoutFilter')}
    </Button>
  );
}

interface LoadedProps<Data> {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  /** About as many lines as the content, so that the page does not jump. */
  lines?: number;
  /** Replaces the lines for content of another shape. */
  outline?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** Loaded content that is no list: a skeleton, then the content, or an error with a retry. */
export function Loaded<Data>({ query, lines = 3, outline, children }: LoadedProps<Data>) {
  const { t } = useTranslation('shell');
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  return (
    <Stack gap="sm" role="status" aria-label={t('loading')}>
      {outline ??
        Array.from({ length: lines }, (_, line) => (
          <Skeleton key={line} height={20} width={line === lines - 1 ? '60%' : '100%'} />
        ))}
    </Stack>
  );
}
