import { Group, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { TextLink } from '../../ui/links.js';
import { LargeMoney } from '../../ui/money.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Calculation } from './calculation.js';
import { ChargeBadge } from './charge-state.js';

/** Calls are charged soon after their answer. */
const ASKING_MS = 1_000;

/** While the request is in progress, shows what is held for it. */
export function ChargeReceipt({ id }: { id: string }) {
  const { t } = useTranslation('calls');
  const about = { path: { chargeId: id } };
  const charge = useRead('/api/charges/{chargeId}', about, {
    refetchInterval: ({ state }) => (state.data?.state === 'held' ? ASKING_MS : false),
  });
  const toUsage = (
    <TextLink to="/logs" search={{ charge: id }} size="sm">
      {t('play.toUsage')}
    </TextLink>
  );
  return (
    <Section title={t('play.receipt.title')} aside={toUsage}>
      <Loaded query={charge} lines={6}>
        {(found) => (
          <Stack gap="sm">
            <Outcome charge={found} />
            <Calculation charge={found} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Outcome({ charge }: { charge: Shape<'Charge'> }) {
  const { state, hold, settlement } = charge;
  return (
    <Group>
      <LargeMoney value={(state === 'held' ? hold : settlement)?.amount ?? '0'} />
      <ChargeBadge charge={charge} />
    </Group>
  );
}
