import { Loader } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { useLive } from '../../shell/live.js';
import { TextLink } from '../../ui/links.js';
import { Notice } from '../../ui/notice.js';
import { isPlayedHere } from './play.js';

const LATEST = { params: { query: { limit: 10 } } };
/** The live connection reports sooner; this is for when it breaks. */
const ASKING_MS = 5_000;

/** Waits for the first request of the person's own code, and says when it has come. */
export function FirstRequest() {
  const { t } = useTranslation('calls');
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const latest = $api.useQuery('get', '/api/usage', LATEST, { refetchInterval: ASKING_MS }).data?.items;
  useLive((event) => {
    if (event === 'balance') void refresh('/api/usage');
  });
  // What there was when the page first looked.
  if (latest && !before) setBefore(new Set(latest.map(({ chargeId }) => chargeId)));
  const first = latest?.find(
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
      <TextLink to="/logs" search={{ charge: first.chargeId }} size="sm">
        {t('play.first.see')}
      </TextLink>
    </Notice>
  );
}
