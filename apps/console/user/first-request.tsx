import { Loader, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../api/client.js';
import { refresh } from '../api/queries.js';
import { useLive } from '../shell/live.js';
import { Notice } from '../ui/notice.js';
import { isPlayedHere } from './playground/play.js';
import { ChargeReceipt } from './usage/charge-receipt.js';

const LATEST = { params: { query: { limit: 10 } } };
/** The live connection reports sooner; this is for when it breaks. */
const ASKING_MS = 5_000;

/** Waits for the first request of the person's own code, and shows its receipt when it has come. */
export function FirstRequest() {
  const { t } = useTranslation('calls');
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const usage = $api.useQuery('get', '/api/usage', LATEST, { refetchInterval: ASKING_MS });
  // What was read before the page was opened may lack what came since.
  const latest = usage.isFetchedAfterMount ? usage.data?.items : undefined;
  useLive((event) => {
    if (event === 'balance') void refresh('/api/usage');
  });
  // What there was when the page first looked.
  if (latest && !before) setBefore(new Set(latest.map(({ chargeId }) => chargeId)));
  const first = latest?.findLast(
    ({ chargeId, requestId }) => before?.has(chargeId) === false && !isPlayedHere(requestId),
  );
  if (!first)
    return (
      <Notice tone="quiet" role="status" title={t('play.first.waiting')}>
        <Loader size="xs" aria-hidden /> {t('play.first.waitingHint')}
      </Notice>
    );
  return (
    <Notice tone="good" role="status" title={t('play.first.came')}>
      <Stack mt="xs">
        <ChargeReceipt id={first.chargeId} />
      </Stack>
    </Notice>
  );
}
