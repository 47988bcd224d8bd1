import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { useSignOut } from '../../shell/sign-out.js';
import { column, offPhone, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Section } from '../../ui/page.js';

export function Sessions() {
  const { t } = useTranslation('account');
  const sessions = useRead('/api/sessions');
  return (
    <Section title={t('sessions.title')}>
      <DataList query={sessions} columns={useColumns()} rowKey="sessionId" empty={t('sessions.empty')} />
      <Group>
        {(sessions.data?.items.length ?? 0) > 1 && <EndOthers />}
        <EndAll />
      </Group>
    </Section>
  );
}

function EndOthers() {
  const { t } = useTranslation('account');
  return (
    <ConfirmAction
      texts={t('sessions.endOthers')}
      act={() => api.DELETE('/api/sessions', { params: { query: { keepThis: 'true' } } })}
      reread={() => refresh('/api/sessions')}
    />
  );
}

function EndAll() {
  const { t } = useTranslation('account');
  const signOut = useSignOut();
  const endAll = () =>
    signOut(() => api.DELETE('/api/sessions', { params: { query: { keepThis: 'false' } } }));
  return <ConfirmAction texts={t('sessions.endAll')} act={endAll} />;
}

function End({ session: { sessionId, userAgent } }: { session: Shape<'ListedSession'> }) {
  const { t } = useTranslation('account');
  return (
    <ConfirmAction
      size="xs"
      texts={t('sessions.end', { device: deviceOf(userAgent) ?? t('sessions.unknown') })}
      act={() => api.DELETE('/api/sessions/{sessionId}', { params: { path: { sessionId } } })}
      reread={() => refresh('/api/sessions')}
    />
  );
}

function useColumns(): ListColumn<Shape<'ListedSession'>>[] {
  const { t } = useTranslation('account');

  return [
    column('device', t('sessions.device'), ({ userAgent, isCurrent }) => (
      <Group gap="xs">
        <span title={userAgent ?? ''}>{deviceOf(userAgent) ?? t('sessions.unknown')}</span>
        {isCurrent && <StatusBadge tone="good">{t('sessions.this')}</StatusBadge>}
      </Group>
    )),
    column('ip', t('sessions.ip'), ({ ip }) => ip ?? '–'),
    timeColumn('lastSeenAt', t('sessions.seen')),
    offPhone(timeColumn('createdAt', t('sessions.since'))),
    rightColumn('end', t('sessions.action'), (session) => !session.isCurrent && <End session={session} />),
  ];
}

/** The order matters: Edge also claims to be Chrome, and Chrome to be Safari. */
const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/curl\//, 'curl'],
] as const;

const SYSTEMS = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Android/, 'Android'],
  [/Linux/, 'Linux'],
] as const;

/** Null if the browser does not say. */
function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const known = [BROWSERS, SYSTEMS].flatMap((names) => {
    const found = names.find(([pattern]) => pattern.test(userAgent));
    return found ? [found[1]] : [];
  });
  return known.length > 0 ? known.join(', ') : null;
}
