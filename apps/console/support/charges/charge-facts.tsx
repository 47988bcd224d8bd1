import { Card, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { CopyFact } from '../../ui/copy.js';
import { FactGrid } from '../../ui/lists/facts.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';
import { StaffChargeBadge } from './charge-state.js';

/** The outcome of a request and its charge, for support. */
export function ChargeFacts({ chargeId }: { chargeId: string }) {
  const { t } = useTranslation('support');
  const charge = useRead('/api/support/charges/{chargeId}', { path: { chargeId } });
  return (
    <Card withBorder component="section" aria-label={t('charge.title')}>
      <Loaded query={charge} lines={5}>
        {(found) => (
          <Stack gap="sm">
            <Head charge={found} />
            <Why charge={found} />
            <Facts charge={found} />
            <Ids charge={found} />
            <Refunds charge={found} />
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function Head({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('support');
  const { requestedModel, model, state, agrees } = charge;
  return (
    <Group justify="space-between">
      <Group gap="xs">
        <Text fw={600} className="model-name">
          {requestedModel ?? model ?? t('charge.title')}
        </Text>
        <StaffChargeBadge state={state} />
      </Group>
      {agrees !== null && (
        <StatusBadge tone={agrees ? 'good' : 'bad'}>
          {agrees ? t('charge.agrees') : t('charge.disagrees')}
        </StatusBadge>
      )}
    </Group>
  );
}

function Why({ charge: { refusal, release } }: { charge: Shape<'Charge'> }) {
  const reason = refusal ? `${refusal.code}: ${refusal.message}` : release?.reason;
  return reason ? (
    <Text size="sm" className="model-name">
      {reason}
    </Text>
  ) : null;
}

function Facts({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('support');
  const { group, pricing, hold, settlement, release, upstream } = charge;
  const amount = (of: { amount: string } | null) => of && <Money value={of.amount} />;
  const facts = [
    { name: t('keys.group'), value: group },
    { name: t('usage.at'), value: hold && <When at={hold.at} /> },
    { name: t('charge.units'), value: pricing?.units },
    { name: t('charge.delivered'), value: settlement?.deliveredUnits },
    { name: t('usage.held'), value: amount(hold) },
    { name: t('usage.settled'), value: amount(settlement) },
    { name: t('charge.released'), value: amount(release) },
    { name: t('usage.channel'), value: upstream.channel },
    { name: t('charge.upstream'), value: upstream.status },
    { name: t('usage.latency'), value: upstream.latencyMs === null ? null : `${upstream.latencyMs}\u00a0ms` },
  ];
  return <FactGrid cols={{ base: 2, md: 3 }} facts={facts} size="sm" />;
}

function Ids({ charge: { id, requestId } }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('support');
  return (
    <Group gap="sm">
      <CopyFact name={t('usage.request')} value={requestId} />
      <CopyFact name={t('usage.charge')} value={id} />
    </Group>
  );
}

function Refunds({ charge: { refunds } }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('support');
  return refunds.map(({ id, amount, at, reason }) => (
    <Text key={id} size="sm">
      {t('charge.refunded')} <Money value={amount} /> · <When at={at} /> · {reason}
    </Text>
  ));
}
