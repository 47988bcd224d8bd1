import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge } from '../../ui/status-badge.js';

export const endpointEvents = [
  'topup.credited',
  'balance.low',
  'video.completed',
  'video.failed',
  'charge.refunded',
  'control.failed',
  'ledger.head',
] as const satisfies readonly Shape<'WebhookEndpoint'>['events'][number][];

/** Events about the whole business, for finance. */
export const financeEndpointEvents: readonly Shape<'WebhookEndpoint'>['events'][number][] = [
  'control.failed',
  'ledger.head',
];

export function EndpointState({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
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
