import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { CopyLine } from '../../ui/copy.js';
import { OpenPanel } from '../../ui/forms/dialog.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { TextLink } from '../../ui/links.js';
import { Loaded } from '../../ui/states.js';
import { useNow } from '../../ui/time/now.js';
import { When } from '../../ui/time/when.js';
import { useFaultText } from '../fault-text.js';
import { useKeyName } from '../keys.js';
import { useTask } from './task.js';
import { availableMs, contentOf, TaskDownload } from './task-file.js';
import { TaskBadge } from './task-state.js';
import { useReturnedName } from '../usage/returned-name.js';

/** Loaded only when needed, since 3D drawing is a lot of code. */
const MeshPreview = lazy(async () => ({ default: (await import('./mesh-preview.js')).MeshPreview }));

/** Opens the task that the address names. */
export function TaskPanel() {
  const { t } = useTranslation('calls');
  return (
    <OpenPanel param="task" title={t('task.title')}>
      {(id) => <TaskDetails id={id} />}
    </OpenPanel>
  );
}

export function TaskDetails({ id }: { id: string }) {
  return (
    <Loaded query={useTask(id)} lines={10}>
      {(found) => <Details task={found} />}
    </Loaded>
  );
}

function Details({ task }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('calls');
  const faultText = useFaultText();
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <TaskBadge task={task} />
        <TaskDownload task={task} />
      </Group>
      <Preview task={task} />
      {task.error && (
        <Alert color="red" title={faultText(task.error.code)}>
          {task.error.message}
        </Alert>
      )}
      <Text>{task.prompt}</Text>
      <Amounts task={task} />
      <About task={task} />
      <TextLink to="/logs" search={{ charge: task.chargeId }} size="sm">
        {t('task.toCharge')}
      </TextLink>
      <CopyLine value={task.id} label={t('task.id')} />
    </Stack>
  );
}

/** Served from the console's own origin. */
function Preview({ task }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('calls');
  const now = useNow(60_000, true);
  if (task.state !== 'completed' || availableMs(task, now) === null) return null;
  const src = contentOf(task.id);
  const label = t('task.preview', { prompt: task.prompt });
  if (task.kind === 'video')
    return (
      <video controls muted playsInline preload="metadata" className="preview" src={src} aria-label={label} />
    );
  return (
    <Suspense fallback={<Skeleton height={240} />}>
      <MeshPreview src={src} label={label} />
    </Suspense>
  );
}

/** While it runs, only the held amount is known. */
function Amounts({ task }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('calls');
  const amounts = [
    { name: t('task.held'), value: task.held },
    { name: t('task.settled'), value: task.settled },
    { name: useReturnedName()(task), value: task.released },
  ];
  return (
    <Group grow component="dl" m={0} align="flex-start">
      {amounts.map(({ name, value }) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} fw={600}>
            {value === null ? '–' : <Money value={value} />}
          </Text>
        </div>
      ))}
    </Group>
  );
}

function useFacts(task: Shape<'Task'>): [string, ReactNode][] {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const nameOf = useKeyName();
  const { requestedModel, model, seconds, size, aspectRatio, resolution, audio, mode, file } = task;
  const sizeText = (bytes: number) => `${Math.ceil(bytes / 1024).toLocaleString(locale)} kB`;
  return [
    [t('task.facts.model'), requestedModel === model ? model : `${requestedModel} (${model})`],
    [t('task.facts.key'), nameOf(task.keyId)],
    [t('task.facts.seconds'), seconds],
    [t('task.facts.size'), size],
    [t('task.facts.aspectRatio'), aspectRatio],
    [t('task.facts.resolution'), resolution],
    [t('task.facts.audio'), audio === null ? null : t(`task.audio.${audio ? 'on' : 'off'}`)],
    [t('task.facts.mode'), mode && t(`task.modes.${mode}`)],
    [t('task.facts.bytes'), file?.bytes == null ? null : sizeText(file.bytes)],
    [t('task.facts.created'), <When key="created" at={task.createdAt} />],
    [t('task.facts.ended'), task.endedAt && <When key="ended" at={task.endedAt} />],
  ];
}

function About({ task }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('calls');
  return (
    <Facts label={t('task.title')}>
      {useFacts(task).map(([name, value]) => (
        <Fact key={name} name={name} value={value} />
      ))}
    </Facts>
  );
}
