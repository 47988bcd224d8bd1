import { Alert, Button, Code, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { asFailure } from '../api/failure.js';
import { useFilter } from './address.js';
import { useFailureText } from './failure-text.js';

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
  // Nothing of ours went wrong if a password was mistyped.
  const isMistake = failure.code === 'sign_in_failed';
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={isMistake ? text : t('failure.title')}>
      <Stack gap="xs" align="flex-start">
        {!isMistake && <Text size="sm">{text}</Text>}
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
