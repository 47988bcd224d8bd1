import { Button, Image, Loader, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TaskDetails } from '../tasks/task-details.js';
import type { Played } from './play.js';
import { useRead } from '../../api/client.js';
import { Hint } from '../../ui/texts.js';
import { ChargeReceipt } from '../usage/charge-receipt.js';

interface ResultProps {
  played: Played | null;
  /** Kept in the address, so that people can leave and come back. */
  taskId: string | undefined;
  isSending: boolean;
}

export function PlayResult({ played, taskId, isSending }: ResultProps) {
  const { t } = useTranslation('calls');
  return (
    <Stack component="section" gap="sm" aria-live="polite">
      <Title order={2} size="h4">
        {t('play.result')}
      </Title>
      <Paper withBorder p="md" mih="10rem">
        {isSending ? (
          <Working />
        ) : taskId !== undefined ? (
          <TaskDetails id={taskId} />
        ) : played ? (
          <Shown played={played} />
        ) : (
          <Text c="dimmed" ta="center" py="xl">
            {t('play.nothingYet')}
          </Text>
        )}
      </Paper>
    </Stack>
  );
}

function Working() {
  const { t } = useTranslation('calls');
  return (
    <Stack align="center" py="lg">
      <Loader aria-label={t('play.working')} />
      <Text size="sm">{t('play.working')}</Text>
    </Stack>
  );
}

function Shown({ played }: { played: Played }) {
  return (
    <Stack>
      {played.kind === 'images' && <Images images={played.images} />}
      {played.kind === 'text' && <Text className="spoken">{played.text}</Text>}
      {played.kind === 'sound' && <Sound sound={played.sound} />}
      {played.requestId !== null && <PlayReceipt requestId={played.requestId} />}
    </Stack>
  );
}

function Images({ images }: { images: readonly string[] }) {
  const { t } = useTranslation('calls');
  return (
    <SimpleGrid cols={{ base: 1, xs: Math.min(images.length, 2) }}>
      {images.map((image, index) => (
        <Stack key={index} gap="xs">
          <Image src={image} alt={t('play.image', { number: index + 1 })} radius="md" />
          <Button
            component="a"
            href={image}
            download={`image-${index + 1}`}
            variant="default"
            size="xs"
            aria-label={t('play.saveImage', { number: index + 1 })}
          >
            {t('play.save')}
          </Button>
        </Stack>
      ))}
    </SimpleGrid>
  );
}

/** @param sound a data URL, which the page's policy lets no player open */
function Sound({ sound }: { sound: string }) {
  const { t } = useTranslation('calls');
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blobOf(sound));
    // oxlint-disable-next-line react/set-state-in-effect -- the address lives as long as the element
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [sound]);
  return <audio controls src={url} aria-label={t('play.sound')} />;
}

function blobOf(dataUrl: string): Blob {
  const [, type = '', base64 = ''] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(dataUrl) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], { type });
}

/** Calls are charged soon after their answer; later, polling slows down. */
const ASKING_MS = 1_000;
const SOON = 30;
const LATER_MS = 15_000;

function PlayReceipt({ requestId }: { requestId: string }) {
  const { t } = useTranslation('calls');
  const about = { query: { id: requestId } };
  const found = useRead('/api/requests', about, {
    refetchInterval: ({ state }) => {
      if (endedOf(state.data?.items)) return false;
      return state.dataUpdateCount < SOON ? ASKING_MS : LATER_MS;
    },
  });
  const entry = endedOf(found.data?.items);
  if (entry === undefined) return <Hint>{t('play.receipt.waiting')}</Hint>;
  return <ChargeReceipt id={entry.chargeId} />;
}

/** The attempt that was charged, once all have ended; other models cost nothing. */
function endedOf<Entry extends { state: string }>(entries: readonly Entry[] = []): Entry | undefined {
  if (entries.some(({ state }) => state === 'held')) return undefined;
  return entries.find(({ state }) => state !== 'released') ?? entries[0];
}
