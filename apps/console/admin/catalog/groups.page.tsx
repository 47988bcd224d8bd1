import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { PageFrame } from '../../ui/page.js';
import { useGroups } from '../catalog.js';
import { ChangeGroup, CreateGroup } from './group-forms.js';
import { GroupLink, GroupPrice } from './group-price.js';
import { FormPanel, OpenRow } from '../../ui/forms/dialog.js';

const route = getRouteApi('/admin/groups');

export default function GroupsPage() {
  const { t } = useTranslation('catalog');
  const groups = useGroups();
  const create = (
    <ButtonLink to="/admin/groups" search={{ new: 'yes' }} icon={IconPlus}>
      {t('groups.new')}
    </ButtonLink>
  );
  return (
    <PageFrame title={t('groups.title')} about={t('groups.about')} actions={create}>
      <DataList
        query={rowsOf(groups)}
        columns={useColumns()}
        rowKey="name"
        empty={{ ...t('groups.empty'), action: create }}
      />
      <OpenForms groups={groups.data ?? []} />
    </PageFrame>
  );
}

function useColumns(): ListColumn<Shape<'Group'>>[] {
  const { t } = useTranslation('catalog');
  const locale = useLocale();
  const limit = (value: number | null) =>
    value === null ? t('groups.noLimit') : value.toLocaleString(locale);
  return [
    column('name', t('groups.name'), ({ name }) => <GroupLink name={name} />),
    rightColumn('models', t('groups.models'), ({ models }) => models.length),
    column('price', t('groups.price'), (group) => <GroupPrice group={group} />),
    rightColumn('requests', t('groups.requestsPerMinute'), ({ requestsPerMinute }) =>
      limit(requestsPerMinute),
    ),
    rightColumn('concurrent', t('groups.maxConcurrentRequests'), ({ maxConcurrentRequests }) =>
      limit(maxConcurrentRequests),
    ),
    rightColumn('tasks', t('groups.maxRunningTasks'), ({ maxRunningTasks }) => limit(maxRunningTasks)),
  ];
}

function OpenForms({ groups }: { groups: readonly Shape<'Group'>[] }) {
  const { t } = useTranslation('catalog');
  const { group: name, new: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const close = () => void navigate({ search: {} });

  return (
    <>
      <FormPanel close={close} opened={wanted === 'yes'} title={t('groups.new')}>
        {wanted === 'yes' && <CreateGroup done={close} />}
      </FormPanel>
      <OpenRow param="group" row={groups.find((group) => group.name === name)} title={(group) => group.name}>
        {(group) => <ChangeGroup key={group.name} group={group} done={close} />}
      </OpenRow>
    </>
  );
}
