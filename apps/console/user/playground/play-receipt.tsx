import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { TextLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { Loaded, Section } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { Calculation } from '../usage/calculation.js';
import { ChargeBadge } from '../usage/charge-state.js';

const LATEST = { params: { query: { limit: 25 } } };
/** A charge is settled soon after the answer. */
const ASKING_MS = 1_000;

/** What the call cost and why, as soon as it is charged. */
export function PlayReceipt({ requestId }: { requestId: string }) {
  const { t } = useTranslation('calls');
  const found = $api.useQuery('get', '/api/usage', LATEST, {
    refetchInterval: ({ state }) => {
      const entry = state.data?.items.find((each) => each.requestId === requestId);
      return entry === undefined || entry.state === 'held' ? ASKING_MS : false;
    },
  });
  const entry = found.data?.items.find((each) => each.requestId === requestId);
  if (entry === undefined || entry.state === 'held') return <Hint>{t('play.receipt.waiting')}</Hint>;
  return <Receipt id={entry.chargeId} />;
}

function Receipt({ id }: { id: string }) {
  const { t } = useTranslation('calls');
  const charge = $api.useQuery('get', '/api/charges/{chargeId}', { params: { path: { chargeId: id } } });
  return (
    <Section
      title={t('play.receipt.title')}
      aside={
        <TextLink to="/usage" search={{ charge: id }} size="sm">
          {t('play.toUsage')}
        </TextLink>
      }
    >
      <Loaded query={charge} lines={6}>
        {(found) => (
          <Stack gap="sm">
            <Group>
              <Text size="xl" fw={600} component="div">
                <Money value={found.settlement?.amount ?? '0'} />
              </Text>
              <ChargeBadge charge={found} />
            </Group>
            <Calculation charge={found} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}
