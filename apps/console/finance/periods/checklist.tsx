import { Group, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { ControlLink } from '../books/control-words.js';
import { ServerWords } from '../server-words.js';
import { useItemTitle } from './item-title.js';
import { useNoteWords } from './note-words.js';

const tones: Record<Shape<'ChecklistItem'>['state'], Tone> = { ok: 'good', failed: 'bad', waived: 'waiting' };

interface ChecklistProps {
  items: readonly Shape<'ChecklistItem'>[];
  /** What people can still do about a failed item. */
  remedy?: (item: Shape<'ChecklistItem'>) => ReactNode;
}

/** What must hold before a period can close: failed items first, then waived ones. */
export function Checklist({ items, remedy }: ChecklistProps) {
  const { t } = useTranslation('periods');
  const order = ['failed', 'waived', 'ok'] as const;
  const sorted = order.flatMap((state) => items.filter((item) => item.state === state));
  return (
    <Paper withBorder component="ol" className="steps lines" aria-label={t('checklist.title')}>
      {sorted.map((item) => (
        <Item key={item.id} item={item} remedy={remedy?.(item)} />
      ))}
    </Paper>
  );
}

interface ItemProps {
  item: Shape<'ChecklistItem'>;
  remedy: ReactNode;
}

function Item({ item, remedy }: ItemProps) {
  const { t } = useTranslation('periods');
  const titleOf = useItemTitle();
  const { state, count, control } = item;
  return (
    <li>
      <Stack gap="tiny" align="flex-start">
        <Group justify="space-between" wrap="nowrap" align="flex-start" w="100%">
          {control === null ? (
            <Text size="sm">{titleOf(item)}</Text>
          ) : (
            <ControlLink id={control} size="sm">
              {titleOf(item)}
            </ControlLink>
          )}
          <StatusBadge tone={tones[state]}>
            {state === 'failed' ? t('checklist.count', { count }) : t(`checklist.states.${state}`)}
          </StatusBadge>
        </Group>
        <Notes item={item} />
        <Way item={item} remedy={remedy} />
      </Stack>
    </li>
  );
}

/** What is wrong, translated if this console knows it. */
function Notes({ item: { state, notes, message, control } }: { item: Shape<'ChecklistItem'> }) {
  const wordsOf = useNoteWords();
  const said = notes.map((note, place) => (
    <Text key={place} size="sm" className="model-name">
      {wordsOf(note, control)}
    </Text>
  ));
  if (state === 'ok' || notes.length > 0) return said;
  return (
    <ServerWords>
      <Text size="sm" className="model-name">
        {message}
      </Text>
    </ServerWords>
  );
}

/** Why it was waived, or what can be done about it. */
function Way({ item: { state, reason, waivable }, remedy }: ItemProps) {
  const { t } = useTranslation('periods');
  if (state === 'ok') return null;
  if (state === 'waived') return <Text size="sm">{t('checklist.because', { reason: reason ?? '' })}</Text>;
  if (waivable) return remedy;
  return (
    <Text size="sm" fw={500}>
      {t('checklist.mustBeMended')}
    </Text>
  );
}
