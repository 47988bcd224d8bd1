import { useTranslation } from 'react-i18next';
import { refreshFinance } from '../../api/client.js';
import type { ActionTexts } from '../../ui/forms/modal-form.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { NoteAction } from '../note.js';

interface ReversalProps {
  row: { reversesId: string | null; reversedById: string | null };
  /** Labels of a row that reverses another, and of a reversed one. */
  states: { reversal: string; reversed: string };
  texts: ActionTexts;
  send: (body: { note: string; requestId: string }) => Promise<{ state: 'done' | 'pending' | 'rejected' }>;
}

/** Reverses an entry by another one, once. */
export function Reversal({ row, states, texts, send }: ReversalProps) {
  const { t } = useTranslation('adjustments');
  if (row.reversesId !== null) return <StatusBadge tone="quiet">{states.reversal}</StatusBadge>;
  if (row.reversedById !== null) return <StatusBadge tone="quiet">{states.reversed}</StatusBadge>;
  return (
    <NoteAction
      texts={texts}
      isDangerous
      send={({ note }, requestId) => send({ note, requestId })}
      reread={refreshFinance}
      success={({ state }) => t(`outcomes.${state}`)}
    />
  );
}
