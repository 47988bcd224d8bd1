import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { signOf } from '../../ui/decimal.js';
import { Money } from '../../ui/money.js';
import { useReturnedName } from '../usage/returned-name.js';

/** What is held, or what was charged, released or refunded in the end. */
export function TaskCost({ task }: { task: Pick<Shape<'Task'>, 'held' | 'settled' | 'released'> }) {
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
