import { Group, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { TextLink } from '../../ui/links.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { ServerWords } from '../server-words.js';
import { useItemTitle } from './item-title.js';
import { useNoteWords } from './note-words.js';

const tones: Record<Shape<'ChecklistItem'>['state'], Tone> = { ok: 'good', failed: 'bad', waived: 'waiting' };

interface ChecklistProps {
  items: readonly Shape<'ChecklistItem'>[];
  /** What people may still do about an item that is red. */
  remedy?: (item: Shape<'ChecklistItem'>) => ReactNode;
}

/** What has to be so before books are closed: what is red comes first, then what was waived. */
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

function Item({ item, remedy }: { item: Shape<'ChecklistItem'>; remedy: ReactNode }) {
  const { t } = useTranslation('periods');
  const titleOf = useItemTitle();
  const wordsOf = useNoteWords();
  const { state, count, notes, message, waivable, control } = item;
  const title = titleOf(item);
  return (
    <li>
      <Stack gap="tiny" align="flex-start">
        <Group justify="space-between" wrap="nowrap" align="flex-start" w="100%">
          {control === null ? (
            <Text size="sm">{title}</Text>
          ) : (
            <TextLink to="/finance/controls/$controlId" params={{ controlId: control }} size="sm">
              {title}
            </TextLink>
          )}
          <StatusBadge tone={tones[state]}>
            {state === 'failed' ? t('checklist.count', { count }) : t(`checklist.states.${state}`)}
          </StatusBadge>
        </Group>
        {notes.map((note, place) => (
          <Text key={place} size="sm" className="model-name">
            {wordsOf(note, control)}
          </Text>
        ))}
        {state !== 'ok' && notes.length === 0 && (
          <ServerWords>
            <Text size="sm" className="model-name">
              {message}
            </Text>
          </ServerWords>
        )}
        {state === 'waived' && <Text size="sm">{t('checklist.because', { reason: item.reason ?? '' })}</Text>}
        {state === 'failed' && !waivable && (
          <Text size="sm" fw={500}>
            {t('checklist.mustBeMended')}
          </Text>
        )}
        {state === 'failed' && waivable && remedy}
      </Stack>
    </li>
  );
}
