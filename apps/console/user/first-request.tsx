import { Button, Group, Loader, Stack } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { refresh, useRead } from '../api/client.js';
import { useLive } from '../shell/live.js';
import { Notice } from '../ui/notice.js';
import { isPlayedHere } from './playground/play.js';
import { ChargeReceipt } from './usage/charge-receipt.js';

const LATEST = 10;
/** A fallback for when the live connection breaks. */
const ASKING_MS = 5_000;
const WAITING_MS = 600_000;

interface FirstRequestProps {
  /** The key in the code; null: any key of the account. */
  keyId: string | null;
}

/** Waits for the first request from the person's own code and shows its receipt. */
export function FirstRequest({ keyId }: FirstRequestProps) {
  const [isOver, end] = useState(false);
  if (isOver) return <NotYet again={() => end(false)} />;
  return <Wait key={keyId} keyId={keyId} end={() => end(true)} />;
}

function Wait({ keyId, end }: FirstRequestProps & { end: () => void }) {
  const { t } = useTranslation('calls');
  const first = useFirst(keyId);
  if (first === undefined) return null;
  if (first === null) return <Waiting end={end} />;
  return (
    <Notice tone="good" role="status" title={t('play.first.came')}>
      <Stack mt="xs">
        <ChargeReceipt id={first} />
      </Stack>
    </Notice>
  );
}

/** Null until the request arrives; undefined if there was one before. */
function useFirst(keyId: string | null): string | null | undefined {
  const [hadSome, setHadSome] = useState<boolean>();
  const query = { limit: LATEST, ...(keyId !== null && { keyId }) };
  const usage = useRead(
    '/api/usage',
    { query },
    {
      refetchOnMount: 'always',
      refetchInterval: hadSome === true ? false : ASKING_MS,
    },
  );
  useLive((event) => {
    if (event === 'balance') void refresh('/api/usage');
  });
  // The cache may lack what came since.
  const latest = usage.isFetchedAfterMount ? usage.data?.items : undefined;
  const found = latest?.filter(({ requestId }) => !isPlayedHere(requestId));
  if (found && hadSome === undefined) setHadSome(found.length > 0);
  return found && hadSome === false ? (found.at(-1)?.chargeId ?? null) : undefined;
}

function Waiting({ end }: { end: () => void }) {
  const { t } = useTranslation('calls');
  useTimeout(end, WAITING_MS, { autoInvoke: true });
  return (
    <Notice tone="quiet" role="status" title={t('play.first.waiting')}>
      <Loader size="xs" aria-hidden /> {t('play.first.waitingHint')}
    </Notice>
  );
}

/** Stops polling for people who left the page open. */
function NotYet({ again }: { again: () => void }) {
  const { t } = useTranslation('calls');
  return (
    <Notice tone="quiet" role="status" title={t('play.first.none')}>
      <Group gap="sm">
        {t('play.first.stopped')}
        <Button size="compact-xs" variant="default" onClick={again}>
          {t('play.first.again')}
        </Button>
      </Group>
    </Notice>
  );
}
