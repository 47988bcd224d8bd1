import { Card, Group, Stack, Text } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { OpenLink, TextLink } from '../../ui/links.js';
import { useNow } from '../../ui/time/now.js';
import { Money } from '../../ui/money.js';
import { SmallPrint, TextLine } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import { availableMs, contentOf, TaskDownload, TimeLeft } from '../tasks/task-file.js';
import { TypeTile } from './type-tile.js';

const MINUTE_MS = 60_000;

/** A video or 3D asset. */
export function FileCard({ task }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('calls');
  const { id, kind, mode, prompt, requestedModel, createdAt, settled } = task;
  // Prompts are deleted after their retention time, and an asset can be made from images alone.
  const title = prompt || t('library.noPrompt');
  const leftMs = availableMs(task, useNow(MINUTE_MS, task.file?.available === true));
  return (
    <Card component="li" withBorder>
      <Card.Section>
        <Thumbnail task={task} isStored={leftMs !== null} />
      </Card.Section>
      <Stack gap="xs" mt="sm" flex={1}>
        <OpenLink param="task" value={id} size="sm" fw={600} c="inherit">
          <Text span inherit lineClamp={2}>
            {title}
          </Text>
        </OpenLink>
        <SmallPrint>
          <span className="model-name">{requestedModel}</span> · <Ago at={createdAt} />
        </SmallPrint>
        {leftMs !== null && Number.isFinite(leftMs) && (
          <SmallPrint>
            <TimeLeft ms={leftMs} />
          </SmallPrint>
        )}
        <Group justify="space-between" mt="auto">
          <TextLine>{settled === null ? '–' : <Money value={settled} />}</TextLine>
          {prompt !== '' && mode !== 'texture' && (
            <TextLink
              to="/playground"
              search={{ kind, model: requestedModel, again: id }}
              size="sm"
              aria-label={t('library.againOf', { prompt: title })}
            >
              {t('library.again')}
            </TextLink>
          )}
        </Group>
        <TaskDownload task={task} isWide />
      </Stack>
    </Card>
  );
}

/** The first frame of a video, loaded once it is visible. */
function Thumbnail({ task: { id, kind }, isStored }: { task: Shape<'Task'>; isStored: boolean }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  return (
    <div ref={ref} className="thumbnail">
      {kind === 'video' && isStored && inViewport ? (
        <video aria-hidden muted playsInline preload="metadata" tabIndex={-1} src={contentOf(id)} />
      ) : (
        <TypeTile type={kind} />
      )}
    </div>
  );
}
