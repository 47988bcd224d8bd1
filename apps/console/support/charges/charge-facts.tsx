import { Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Answer } from '../../api/queries.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/when.js';
import { ChargeState } from './charge-state.js';

type Charge = Answer<'/api/support/charges/{chargeId}'>;

/** What became of a request and its money, as whoever answers for it needs it. */
export function ChargeFacts({ chargeId }: { chargeId: string }) {
  const { t } = useTranslation('support');
  const charge = $api.useQuery('get', '/api/support/charges/{chargeId}', { params: { path: { chargeId } } });
  return (
    <Card withBorder component="section" aria-label={t('charge.title')}>
      <Loaded query={charge} lines={5}>
        {(found) => (
          <Stack gap="sm">
            <Group justify="space-between">
              <Group gap="xs">
                <Text fw={600}>{t('charge.title')}</Text>
                <ChargeState state={found.state} />
              </Group>
              {found.agrees !== null && (
                <StatusBadge tone={found.agrees ? 'good' : 'bad'}>
                  {found.agrees ? t('charge.agrees') : t('charge.disagrees')}
                </StatusBadge>
              )}
            </Group>
            <Why charge={found} />
            <Facts charge={found} />
            <Refunds charge={found} />
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function Why({ charge: { refusal, release } }: { charge: Charge }) {
  const reason = refusal ? `${refusal.code}: ${refusal.message}` : release?.reason;
  return reason ? (
    <Text size="sm" className="model-name">
      {reason}
    </Text>
  ) : null;
}

function Facts({ charge }: { charge: Charge }) {
  const { t } = useTranslation('support');
  const { requestedModel, model, group, pricing, hold, settlement, release, upstream, requestId } = charge;
  const amount = (of: { amount: string } | null) => of && <Money value={of.amount} />;
  const facts: [string, ReactNode][] = [
    [t('usage.model'), `${requestedModel ?? model ?? '–'} · ${group ?? '–'}`],
    [t('usage.at'), hold && <When at={hold.at} />],
    [t('charge.units'), pricing?.units],
    [t('charge.delivered'), settlement?.deliveredUnits],
    [t('usage.held'), amount(hold)],
    [t('usage.settled'), amount(settlement)],
    [t('charge.released'), amount(release)],
    [t('usage.channel'), upstream.channel],
    [t('charge.upstream'), upstream.status],
    [t('usage.latency'), upstream.latencyMs === null ? null : `${upstream.latencyMs}\u00a0ms`],
    [t('usage.request'), requestId],
    [t('usage.charge'), charge.id],
  ];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} component="dl" className="facts" spacing="xs">
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== undefined && (
            <div key={name}>
              <Text size="sm" c="dimmed" component="dt">
                {name}
              </Text>
              <Text size="sm" component="dd" className="model-name">
                {value}
              </Text>
            </div>
          ),
      )}
    </SimpleGrid>
  );
}

function Refunds({ charge: { refunds } }: { charge: Charge }) {
  const { t } = useTranslation('support');
  return refunds.map(({ id, amount, at, reason }) => (
    <Text key={id} size="sm">
      {t('charge.refunded')} <Money value={amount} /> · <When at={at} /> · {reason}
    </Text>
  ));
}
