import { Button, Card, Group, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApiFailure } from '../../api/failure.js';
import { FailureLine, useFailureText } from '../../ui/failure-text.js';
import { useLocale } from '../../ui/locale.js';
import { useNow } from '../../ui/time/now.js';
import { EmptyState } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { cancelDownload, type FileDownload, forgetDownload, useDownloads } from './downloads.js';

const tones = { running: 'busy', done: 'good', failed: 'bad', cancelled: 'quiet' } as const;
const SECOND_MS = 1_000;

/** Downloads of this tab and their progress. */
export function DownloadList() {
  const { t } = useTranslation('costs');
  const downloads = useDownloads();
  if (downloads.length === 0) return <EmptyState {...t('exports.none')} />;
  return (
    <Stack component="ul" className="plain-list" gap="sm">
      {downloads.map((download) => (
        <OneDownload key={download.id} download={download} />
      ))}
    </Stack>
  );
}

function OneDownload({ download }: { download: FileDownload }) {
  const { t } = useTranslation('costs');
  const { name, state, failure } = download;
  return (
    <Card withBorder component="li" padding="sm">
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={500} className="model-name">
            {name}
          </Text>
          <StatusBadge tone={tones[state]}>{t(`exports.states.${state}`)}</StatusBadge>
        </Group>
        {state === 'running' && (
          <Progress value={100} animated aria-label={t('exports.progress', { name })} />
        )}
        <Group justify="space-between">
          <Arrived download={download} />
          <Buttons download={download} />
        </Group>
        {state === 'failed' && failure !== null && <Failed failure={failure} />}
      </Stack>
    </Card>
  );
}

function Buttons({ download: { id, name, state, address } }: { download: FileDownload }) {
  const { t } = useTranslation('costs');
  const isRunning = state === 'running';
  const end = () => (isRunning ? cancelDownload(id) : forgetDownload(id));
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={end}>
        {t(isRunning ? 'exports.cancel' : 'exports.forget')}
      </Button>
      {address !== null && (
        <Button size="xs" component="a" href={address} download={name}>
          {t('exports.save')}
        </Button>
      )}
    </Group>
  );
}

function Failed({ failure }: { failure: ApiFailure }) {
  const textOf = useFailureText();
  return (
    <Text size="sm">
      <FailureLine {...textOf(failure)} />
    </Text>
  );
}

function Arrived({ download: { bytes, startedAt, endedAt } }: { download: FileDownload }) {
  const { t } = useTranslation('costs');
  const locale = useLocale();
  const now = useNow(SECOND_MS, endedAt === null);
  const seconds = Math.max(0, Math.round(((endedAt ?? now) - startedAt) / SECOND_MS));
  return <Hint>{t('exports.arrived', { size: sizeText(bytes, locale), seconds })}</Hint>;
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

function sizeText(bytes: number, locale: string): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const format = { style: 'unit', unit: UNITS[step]!, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(locale, format).format(bytes / 1_000 ** step);
}
