import { Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { spaced, useLocale } from '../../ui/locale.js';
import { useNow } from '../../ui/time/now.js';
import { Hint } from '../../ui/texts.js';
import { isTaskRunning } from './task.js';
import { DownloadButton } from '../../ui/links.js';

const MINUTE_MS = 60_000;

/** Beyond this, hours are shown. */
const MOST_MINUTES = 120;

export function contentOf(taskId: string): string {
  return `/api/tasks/${taskId}/content`;
}

/** How long the file is still available; null: no longer; Infinity: it stays. */
export function availableMs({ file }: Pick<Shape<'Task'>, 'file'>, nowMs: number): number | null {
  if (!file?.available) return null;
  if (file.expiresAt === null) return Infinity;
  const leftMs = Date.parse(file.expiresAt) - nowMs;
  return leftMs > 0 ? leftMs : null;
}

interface TaskDownloadProps {
  task: Shape<'Task'>;
  /** As wide as its card, which has the time elsewhere. */
  isWide?: boolean;
}

/** Downloads the file, or says why there is none. */
export function TaskDownload({ task, isWide = false }: TaskDownloadProps) {
  const { t } = useTranslation('calls');
  const now = useNow(MINUTE_MS, task.file?.available === true);
  const leftMs = availableMs(task, now);
  if (isTaskRunning(task)) return <Note>{t('task.notYet')}</Note>;
  if (task.state === 'failed') return <Note>{t('task.noFile')}</Note>;
  if (leftMs === null) return <Note>{t(task.file?.deletedAt ? 'task.deleted' : 'task.expired')}</Note>;
  const button = <SaveFile id={task.id} isWide={isWide} />;
  if (isWide || !Number.isFinite(leftMs)) return button;
  return (
    <Stack gap="hair" align="flex-end">
      {button}
      <Text size="xs" c="dimmed" role="timer">
        <TimeLeft ms={leftMs} />
      </Text>
    </Stack>
  );
}

function SaveFile({ id, isWide }: { id: string; isWide: boolean }) {
  const { t } = useTranslation('calls');
  const icon = <IconDownload size={14} aria-hidden />;
  return (
    <DownloadButton href={`${contentOf(id)}?download=true`} size="xs" fullWidth={isWide} leftSection={icon}>
      {t('task.download')}
    </DownloadButton>
  );
}

/** In whole minutes or hours. */
export function TimeLeft({ ms }: { ms: number }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  const isLong = minutes >= MOST_MINUTES;
  const format = new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: isLong ? 'hour' : 'minute',
    unitDisplay: 'short',
  });
  return t('task.left', { time: spaced(format.format(isLong ? Math.floor(minutes / 60) : minutes)) });
}

function Note({ children }: { children: string }) {
  return <Hint>{children}</Hint>;
}
