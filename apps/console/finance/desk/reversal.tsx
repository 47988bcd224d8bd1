import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../../ui/status-badge.js';
import { NoteAction } from '../note.js';
import { refreshDesk } from './desk.js';

interface ReversalProps {
  row: { reversesId: string | null; reversedById: string | null };
  /** What a row is called that reverses another, and one that was reversed. */
  states: { reversal: string; reversed: string };
  label: string;
  title: string;
  hint: string;
  send: (body: { note: string; requestId: string }) => Promise<{ state: 'done' | 'pending' | 'rejected' }>;
}

/** Undoes an entry of a register by another one, once. */
export function Reversal({ row, states, label, title, hint, send }: ReversalProps) {
  const { t } = useTranslation('desk');
  if (row.reversesId !== null) return <StatusBadge tone="quiet">{states.reversal}</StatusBadge>;
  if (row.reversedById !== null) return <StatusBadge tone="quiet">{states.reversed}</StatusBadge>;
  return (
    <NoteAction
      label={label}
      title={title}
      hint={hint}
      isDangerous
      send={({ note }, requestId) => send({ note, requestId })}
      reread={refreshDesk}
      success={({ state }) => t(`outcomes.${state}`)}
    />
  );
}
