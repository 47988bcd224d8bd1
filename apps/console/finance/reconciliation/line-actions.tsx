import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { NoteAction } from '../note.js';
import { refreshReconciliation } from './reconciliation.js';

interface LineName {
  provider: Shape<'Match'>['provider'];
  lineId: string;
}

/** A payment, refund or dispute that never reached us is booked as if the provider had reported it when it happened. */
export function RecordLine({ provider, lineId }: LineName) {
  const { t } = useTranslation('reconciliation');
  return (
    <NoteAction
      label={t('book.do')}
      title={t('book.title')}
      hint={t('book.hint')}
      send={async ({ note }) => {
        const params = { path: { provider, lineId } };
        const path = '/api/finance/provider-lines/{provider}/{lineId}/book';
        return (await api.POST(path, { params, body: { note } })).data!;
      }}
      reread={refreshReconciliation}
      success={({ state }) => t(`book.done.${state}`)}
    />
  );
}

/** A line that a provider reported in two ways stays a fault until the later one is accepted. */
export function AcceptLine({ provider, lineId }: LineName) {
  const { t } = useTranslation('reconciliation');
  return (
    <NoteAction
      label={t('accept.do')}
      title={t('accept.title')}
      hint={t('accept.hint')}
      send={async ({ note }, requestId) => {
        const params = { path: { provider, lineId } };
        const path = '/api/finance/provider-lines/{provider}/{lineId}/accept';
        return (await api.POST(path, { params, body: { reason: note, requestId } })).data!;
      }}
      reread={refreshReconciliation}
      success={({ state }) => t(`accept.outcomes.${state}`)}
    />
  );
}
