import { useTranslation } from 'react-i18next';
import { refreshFinance } from '../../api/client.js';
import type { ActionTexts } from '../../ui/forms/modal-form.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { NoteAction } from '../note.js';

interface ReversalProps {
  row: { reversesId: string | null; reversedById: string | null };
  texts: ActionTexts;
  send: (body: {
    note: string;
    requestId: string;
  }) => Promise<{ data?: { state: 'done' | 'pending' | 'rejected' } }>;
}

/** Reverses an entry by another one, once. */
export function Reversal({ row, texts, send }: ReversalProps) {
  const { t } = useTranslation('adjustments');
  if (row.reversesId !== null) return <StatusBadge tone="quiet">{t('reversal')}</StatusBadge>;
  if (row.reversedById !== null) return <StatusBadge tone="quiet">{t('reversed')}</StatusBadge>;
  return (
    <NoteAction
      texts={texts}
      isDangerous
      send={({ note }, requestId) => send({ note, requestId })}
      reread={refreshFinance}
      success={({ data }) => t(`outcomes.${data!.state}`)}
    />
  );
}
