import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/queries.js';
import { StatusBadge } from '../../ui/status-badge.js';

export type Endpoint = Item<'/api/webhooks'>;

export const eventTypes = [
  'topup.credited',
  'balance.low',
  'video.completed',
  'video.failed',
  'charge.refunded',
  'control.failed',
  'ledger.head',
] as const satisfies readonly Endpoint['events'][number][];

/** Events of the house, for people of finance. */
export const financeEventTypes: readonly Endpoint['events'][number][] = ['control.failed', 'ledger.head'];

/** Whether deliveries go to an endpoint, and why not. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  const { t } = useTranslation('webhooks');
  const { enabled, disabledReason, failingSince } = endpoint;
  if (!enabled) {
    return (
      <StatusBadge tone={disabledReason === 'owner' ? 'quiet' : 'bad'}>
        {t(`states.${disabledReason ?? 'owner'}`)}
      </StatusBadge>
    );
  }
  if (failingSince !== null) return <StatusBadge tone="waiting">{t('states.retrying')}</StatusBadge>;
  return <StatusBadge tone="good">{t('states.on')}</StatusBadge>;
}
