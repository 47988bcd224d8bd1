import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { Choices, optionsOf } from '../../ui/lists/choice.js';
import {
  column,
  longTextColumn,
  menuColumn,
  onPhone,
  openColumn,
  rightColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ACTIONS } from '../../ui/lists/phone-row.js';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { useKeyName } from '../keys.js';
import { WorkFilters } from '../usage/work-filters.js';
import { TaskPanel } from './task-details.js';
import { TaskDownload } from './task-file.js';
import { TaskBadge } from './task-state.js';
import { useLiveTasks } from './task.js';
import { isNarrowed } from '../../ui/search.js';
import { signOf } from '../../ui/decimal.js';
import { Money } from '../../ui/money.js';
import { useReturnedName } from '../usage/returned-name.js';

const route = getRouteApi('/user/tasks');
const PAGE = 25;

export default function TasksPage() {
  const { t } = useTranslation('calls');
  const { task: _open, cursor: _, ...filter } = route.useSearch();
  useLiveTasks(filter);
  const tasks = useList('/api/tasks', { query: { ...filter, limit: PAGE } });
  return (
    <PageFrame title={t('tasks.title')} about={t('tasks.about')}>
      <TaskFilters />
      <DataList texts={useTexts(isNarrowed(filter))} query={tasks} columns={useTaskColumns()} />
      <TaskPanel />
    </PageFrame>
  );
}

function useTexts(isFiltered: boolean) {
  const { t } = useTranslation('calls');
  const label = t('tasks.list');
  if (isFiltered) return { label, empty: t('tasks.noMatch') };
  const action = (
    <ButtonLink to="/playground" search={{ kind: 'video' }} variant="default">
      {t('tasks.toPlayground')}
    </ButtonLink>
  );
  return { label, empty: { title: t('tasks.empty'), hint: t('tasks.emptyHint'), action } };
}

const KINDS = ['video', '3d'] as const;
const STATES = ['running', 'completed', 'failed'] as const;

function TaskFilters() {
  const { t } = useTranslation('calls');
  const kinds = optionsOf(KINDS, t('families'));
  const states = optionsOf(STATES, t('taskStates'));
  return (
    <Group gap="sm">
      <Choices
        of={[
          { param: 'kind', label: t('tasks.filters.kind'), options: kinds },
          { param: 'state', label: t('tasks.filters.state'), options: states },
        ]}
        width="11rem"
      />
      <WorkFilters search={route.useSearch()} fields={['keyId', 'model']} />
    </Group>
  );
}

function useTaskColumns(): ListColumn<Shape<'Task'>>[] {
  const { t } = useTranslation('calls');
  const nameOf = useKeyName();
  return [
    openColumn('task', t('tasks.columns.at'), ({ createdAt: at, id }) => ({ id, at })),
    column('prompt', t('tasks.columns.prompt'), ({ prompt }) => (
      <Text size="sm" lineClamp={2} maw="22rem">
        {prompt}
      </Text>
    )),
    longTextColumn('requestedModel', t('tasks.columns.model')),
    column('state', t('tasks.columns.state'), (task) => <TaskBadge task={task} />),
    onPhone(
      'side',
      rightColumn('cost', t('tasks.columns.cost'), (task) => <TaskCost task={task} />),
    ),
    rightColumn(ACTIONS, t('tasks.columns.file'), (task) => <TaskDownload task={task} />),
    menuColumn(({ id, keyId, model }) => [
      { copy: id },
      { only: { keyId }, what: nameOf(keyId) },
      { only: { model }, what: model },
    ]),
  ];
}

/** What is held, or what was charged, released or refunded in the end. */
function TaskCost({ task }: { task: Pick<Shape<'Task'>, 'held' | 'settled' | 'released'> }) {
  const { t } = useTranslation('calls');
  const nameOf = useReturnedName();
  const { held, settled, released } = task;
  if (held === null) return '–';
  if (settled === null && released === null) return <Line name={t('task.held')} value={held} />;
  const isCharged = settled !== null && signOf(settled) > 0;
  const isReturned = released !== null && signOf(released) > 0;
  return (
    <Stack gap="hair" align="flex-end">
      {isCharged && <Line name={t('task.settled')} value={settled} />}
      {isReturned && <Line name={nameOf(task)} value={released} />}
      {!isCharged && !isReturned && <Line name={t('task.settled')} value="0" />}
    </Stack>
  );
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <Text size="sm" component="span">
      {name} <Money value={value} />
    </Text>
  );
}
