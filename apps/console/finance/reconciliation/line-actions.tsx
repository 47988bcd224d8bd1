import { useTranslation } from 'react-i18next';
import { api, refreshFinance, type Shape } from '../../api/client.js';
import { NoteAction } from '../note.js';

interface LineName {
  provider: Shape<'Match'>['provider'];
  lineId: string;
}

/** Books a payment, refund or dispute that we missed, as of the time when it happened. */
export function RecordLine({ provider, lineId }: LineName) {
  const { t } = useTranslation('reconciliation');
  return (
    <NoteAction
      texts={t('book')}
      send={async ({ note }) => {
        const params = { path: { provider, lineId } };
        const path = '/api/finance/provider-lines/{provider}/{lineId}/book';
        return (await api.POST(path, { params, body: { note } })).data!;
      }}
      reread={refreshFinance}
      success={({ state }) => t(`book.done.${state}`)}
    />
  );
}

/** Accepts the later version of a line that a provider reported twice; until then it counts as a fault. */
export function AcceptLine({ provider, lineId }: LineName) {
  const { t } = useTranslation('reconciliation');
  return (
    <NoteAction
      texts={t('accept')}
      send={async ({ note }, requestId) => {
        const params = { path: { provider, lineId } };
        const path = '/api/finance/provider-lines/{provider}/{lineId}/accept';
        return (await api.POST(path, { params, body: { reason: note, requestId } })).data!;
      }}
      reread={refreshFinance}
      success={({ state }) => t(`accept.outcomes.${state}`)}
    />
  );
}
