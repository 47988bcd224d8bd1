import { Badge, Group } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { useSession } from '../../shell/session.js';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { column, menuColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { OpenLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { OpenPerson } from './person-drawer.js';
import { staffRoles } from '../../api/enumerations.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

const PAGE = 25;

export default function PeoplePage() {
  const { t } = useTranslation('admin');
  const { email, role, person } = useSearch({ from: '/admin/people' });
  const people = useList('/api/admin/people', { query: { limit: PAGE, email, role } });
  return (
    <PageFrame title={t('people.title')} about={t('people.about')}>
      <Filters />
      <DataList texts={t('people.list')} query={people} columns={useColumns()} rowKey="userId" />
      <OpenPerson person={people.data?.items.find(({ userId }) => userId === person)} />
    </PageFrame>
  );
}

function Filters() {
  const { t } = useTranslation('admin');
  return (
    <Toolbar>
      <SearchField label={t('people.search')} param="email" />
      <Choice label={t('people.role')} options={optionsOf(staffRoles, t('roles'))} param="role" />
    </Toolbar>
  );
}

function useColumns(): ListColumn<Shape<'Person'>>[] {
  const { t } = useTranslation('admin');
  const session = useSession();
  return [
    column('email', t('people.email'), ({ userId, email }) => (
      <Group gap="xs">
        <OpenLink param="person" value={userId} size="sm" className="model-name">
          {email}
        </OpenLink>
        {userId === session?.userId && <StatusBadge tone="quiet">{t('people.you')}</StatusBadge>}
      </Group>
    )),
    column('roles', t('people.roles'), ({ roles }) => <Roles roles={roles} />),
    column('totp', t('people.totp'), ({ totpEnabled }) =>
      totpEnabled ? t('people.totpOn') : t('people.totpOff'),
    ),
    column('state', t('people.state'), ({ disabled }) => (
      <StatusBadge tone={disabled ? 'bad' : 'good'}>
        {disabled ? t('people.disabled') : t('people.active')}
      </StatusBadge>
    )),
    timeColumn('createdAt', t('people.created')),
    menuColumn(({ userId }) => [{ copy: userId }]),
  ];
}

function Roles({ roles }: { roles: Shape<'Person'>['roles'] }) {
  const { t } = useTranslation('admin');
  const held = staffRoles.filter((role) => roles.includes(role));
  if (held.length === 0) return <>{t('roles.user')}</>;
  return (
    <Group gap="tiny">
      {held.map((role) => (
        <Badge key={role} variant="default" tt="none">
          {t(`roles.${role}`)}
        </Badge>
      ))}
    </Group>
  );
}
