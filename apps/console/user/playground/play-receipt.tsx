import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/client.js';
import { Hint } from '../../ui/texts.js';
import { ChargeReceipt } from '../usage/charge-receipt.js';

/** Calls are charged soon after their answer; later, polling slows down. */
const ASKING_MS = 1_000;
const SOON = 30;
const LATER_MS = 15_000;

export function PlayReceipt({ requestId }: { requestId: string }) {
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
