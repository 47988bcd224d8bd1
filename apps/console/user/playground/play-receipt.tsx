import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { Hint } from '../../ui/texts.js';
import { ChargeReceipt } from '../usage/charge-receipt.js';

/** A call is charged soon after the answer; where that takes longer it is asked for less often. */
const ASKING_MS = 1_000;
const SOON = 30;
const LATER_MS = 15_000;

/** What the call cost and why, as soon as it is charged. */
export function PlayReceipt({ requestId }: { requestId: string }) {
  const { t } = useTranslation('calls');
  const about = { params: { query: { id: requestId } } };
  const found = $api.useQuery('get', '/api/requests', about, {
    refetchInterval: ({ state }) => {
      if (endedOf(state.data?.items)) return false;
      return state.dataUpdateCount < SOON ? ASKING_MS : LATER_MS;
    },
  });
  const entry = endedOf(found.data?.items);
  if (entry === undefined) return <Hint>{t('play.receipt.waiting')}</Hint>;
  return <ChargeReceipt id={entry.chargeId} />;
}

/** What the request came to, once all of it has ended: models that were tried before took nothing. */
function endedOf<Entry extends { state: string }>(entries: readonly Entry[] = []): Entry | undefined {
  if (entries.some(({ state }) => state === 'held')) return undefined;
  return entries.find(({ state }) => state !== 'released') ?? entries[0];
}
