import { Drawer } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Column, DataList } from '../../ui/data-list.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Page } from '../../ui/page.js';
import { type Group, useGroups } from '../catalog.js';
import { ChangeGroup, NewGroup } from './group-forms.js';
import { GroupPrice } from './group-price.js';

const route = getRouteApi('/admin/groups');

/** What the keys of each group may call, how often, and at what multiple of the list price. */
export function GroupsPage() {
  const { t } = useTranslation('catalog');
  const { data, error, refetch, isPlaceholderData } = useGroups();
  const create = (
    <ButtonLink to="/admin/groups" search={{ new: 'yes' }} leftSection={<IconPlus size={16} aria-hidden />}>
      {t('groups.new')}
    </ButtonLink>
  );
  return (
    <Page title={t('groups.title')} about={t('groups.about')} actions={create}>
      <DataList
        label={t('groups.title')}
        query={{ data: data && { items: data }, error, refetch: refetch as never, isPlaceholderData }}
        columns={useColumns()}
        rowKey={({ name }) => name}
        empty={{ title: t('groups.empty'), hint: t('groups.emptyHint'), action: create }}
      />
      <OpenForms groups={data ?? []} />
    </Page>
  );
}

function useColumns(): Column<Group>[] {
  const { t } = useTranslation('catalog');
  const locale = useLocale();
  const limit = (value: number | null) =>
    value === null ? t('groups.noLimit') : value.toLocaleString(locale);
  return [
    {
      id: 'name',
      header: t('groups.name'),
      cell: ({ name }) => (
        <TextLink to="/admin/groups" search={{ group: name }} size="sm">
          {name}
        </TextLink>
      ),
    },
    { id: 'models', header: t('groups.models'), align: 'right', cell: ({ models }) => models.length },
    { id: 'price', header: t('groups.price'), cell: (group) => <GroupPrice group={group} /> },
    {
      id: 'requests',
      header: t('groups.requestsPerMinute'),
      align: 'right',
      cell: ({ requestsPerMinute }) => limit(requestsPerMinute),
    },
    {
      id: 'concurrent',
      header: t('groups.maxConcurrentRequests'),
      align: 'right',
      cell: ({ maxConcurrentRequests }) => limit(maxConcurrentRequests),
    },
    {
      id: 'tasks',
      header: t('groups.maxRunningTasks'),
      align: 'right',
      cell: ({ maxRunningTasks }) => limit(maxRunningTasks),
    },
  ];
}

function OpenForms({ groups }: { groups: readonly Group[] }) {
  const { t } = useTranslation('catalog');
  const { group: name, new: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const close = () => void navigate({ search: {} });
  const open = groups.find((group) => group.name === name);
  const shared = {
    onClose: close,
    position: 'right',
    size: 'lg',
    closeButtonProps: { 'aria-label': t('close', { ns: 'shell' }) },
  } as const;
  return (
    <>
      <Drawer {...shared} opened={wanted === 'yes'} title={t('groups.new')}>
        {wanted === 'yes' && <NewGroup done={close} />}
      </Drawer>
      <Drawer
        {...shared}
        opened={open !== undefined}
        title={<span className="model-name">{open?.name}</span>}
      >
        {open && <ChangeGroup key={open.name} group={open} done={close} />}
      </Drawer>
    </>
  );
}
