import { Group, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { TextLink } from '../../ui/links.js';
import { LargeMoney } from '../../ui/money.js';
import { Loaded, Section } from '../../ui/states.js';
import { Calculation } from './calculation.js';
import { ChargeBadge } from './charge-state.js';

/** A call is charged soon after its answer. */
const ASKING_MS = 1_000;

/** What a request cost and why; while it is in progress, what is held for it. */
export function ChargeReceipt({ id }: { id: string }) {
  const { t } = useTranslation('calls');
  const about = { params: { path: { chargeId: id } } };
  const charge = $api.useQuery('get', '/api/charges/{chargeId}', about, {
    refetchInterval: ({ state }) => (state.data?.state === 'held' ? ASKING_MS : false),
  });
  return (
    <Section
      title={t('play.receipt.title')}
      aside={
        <TextLink to="/logs" search={{ charge: id }} size="sm">
          {t('play.toUsage')}
        </TextLink>
      }
    >
      <Loaded query={charge} lines={6}>
        {(found) => (
          <Stack gap="sm">
            <Group>
              <LargeMoney value={(found.state === 'held' ? found.hold : found.settlement)?.amount ?? '0'} />
              <ChargeBadge charge={found} />
            </Group>
            <Calculation charge={found} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}
