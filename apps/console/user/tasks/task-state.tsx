import { Group, Progress } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { isTaskRunning } from './task.js';

const TONES: Record<Shape<'Task'>['state'], Tone> = {
  queued: 'waiting',
  in_progress: 'busy',
  completed: 'good',
  failed: 'bad',
};

export function TaskBadge({ task }: { task: Pick<Shape<'Task'>, 'state' | 'progress'> }) {
  const { t } = useTranslation('calls');
  const { state, progress } = task;
  return (
    <Group gap="xs">
      <StatusBadge tone={TONES[state]}>{t(`taskStates.${state}`)}</StatusBadge>
      {isTaskRunning(task) && (
        <Progress.Root w="5rem" size="lg">
          <Progress.Section value={progress} aria-label={t('task.progress')} animated />
        </Progress.Root>
      )}
    </Group>
  );
}
