import { Text } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useNow } from '../../ui/time/now.js';
import { availableMs, contentOf, TaskDownload } from '../tasks/task-file.js';
import { Again, LibraryCard } from './library-card.js';
import { TypeTile } from './type-tile.js';

const MINUTE_MS = 60_000;

export function FileCard({ task }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('calls');
  const { id, kind, mode, prompt, requestedModel, createdAt, settled } = task;
  // Prompts are deleted after their retention time, and an asset can be made from images alone.
  const title = prompt || t('library.noPrompt');
  const leftMs = availableMs(task, useNow(MINUTE_MS, task.file?.available === true));
  const search = { kind, model: requestedModel, again: id };
  return (
    <LibraryCard
      thumbnail={<Thumbnail task={task} isStored={leftMs !== null} />}
      opens={{ param: 'task', value: id }}
      title={
        <Text span inherit lineClamp={2}>
          {title}
        </Text>
      }
      about={<span className="model-name">{requestedModel}</span>}
      at={createdAt}
      leftMs={leftMs}
      cost={settled}
      again={prompt !== '' && mode !== 'texture' && <Again search={search} prompt={title} />}
      download={<TaskDownload task={task} isWide />}
    />
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
