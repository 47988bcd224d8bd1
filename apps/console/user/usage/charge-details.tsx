import { Alert, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { CopyFact } from '../../ui/copy.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { LargeMoney, Money } from '../../ui/money.js';
import { Loaded, Section } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { useFaultText } from '../fault-text.js';
import { useKeyName } from '../keys.js';
import { Calculation } from './calculation.js';
import { ChargeBadge } from './charge-state.js';
import { useReturnedName } from './returned-name.js';

/** What a request cost and why: its price, what was held, charged and released, and the postings behind it. */
export function ChargeDetails({ id }: { id: string }) {
  const { t } = useTranslation('calls');
  const charge = $api.useQuery('get', '/api/charges/{chargeId}', { params: { path: { chargeId: id } } });
  return (
    <Loaded query={charge} lines={12}>
      {(found) => (
        <Stack gap="lg">
          <Head charge={found} />
          <Section title={t('charge.why')}>
            <Calculation charge={found} />
          </Section>
          <Section title={t('charge.timeline')}>
            <Timeline charge={found} />
          </Section>
          {found.attempts.length > 1 && (
            <Section title={t('charge.attempts')}>
              <Attempts charge={found} />
            </Section>
          )}
          <Section title={t('charge.ids')}>
            <Ids charge={found} />
          </Section>
          {found.state === 'settled' && <AskRefund chargeId={found.id} />}
        </Stack>
      )}
    </Loaded>
  );
}

function AskRefund({ chargeId }: { chargeId: string }) {
  const { t } = useTranslation('calls');
  return (
    <ButtonLink
      to="/tickets/new"
      search={{ kind: 'refund', charge: chargeId }}
      variant="default"
      w="fit-content"
    >
      {t('charge.askRefund')}
    </ButtonLink>
  );
}

function Head({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('calls');
  const { model, requestedModel, state } = charge;
  return (
    <Stack gap="xs">
      <Group>
        <Text fw={600} className="model-name">
          {requestedModel ?? model}
        </Text>
        <ChargeBadge charge={charge} />
      </Group>
      {requestedModel !== null && model !== null && requestedModel !== model && (
        <Text size="sm">{t('charge.aliasOf', { model })}</Text>
      )}
      <Outcome charge={charge} />
      <Hint>{t(`chargeHints.${state}`)}</Hint>
    </Stack>
  );
}

/** The amount, or why there is none. */
function Outcome({ charge: { refusal, state, hold, settlement } }: { charge: Shape<'Charge'> }) {
  const faultText = useFaultText();
  if (refusal)
    return (
      <Alert color="red" title={faultText(refusal.code)}>
        {refusal.message}
      </Alert>
    );
  return <LargeMoney value={(state === 'held' ? hold : settlement)?.amount ?? '0'} />;
}

/** Words of the server's, which name a code in some. */
const EVENTS = {
  'task created': 'taskCreated',
  'task completed': 'taskCompleted',
  'task failed': 'taskFailed',
  held: 'held',
  settled: 'settled',
  refunded: 'refunded',
} as const;

const REFUSED = 'refused: ';

function Timeline({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('calls');
  const wordsOf = useEventText(charge);
  return (
    <Stack gap="xs">
      <Table aria-label={t('charge.timeline')}>
        <Table.Tbody>
          {charge.timeline.map(({ at, what, amount }, index) => (
            <Table.Tr key={index}>
              <Table.Td>
                <When at={at} />
              </Table.Td>
              <Table.Td>{wordsOf(what)}</Table.Td>
              <Table.Td ta="right">{amount !== null && <Money value={amount} />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {charge.release?.reason && (
        <Text size="sm">{t('charge.releasedFor', { reason: charge.release.reason })}</Text>
      )}
      {charge.refunds.map(({ id, reason }) => (
        <Text key={id} size="sm">
          {t('charge.refundedFor', { reason })}
        </Text>
      ))}
    </Stack>
  );
}

function useEventText({ timeline }: Shape<'Charge'>): (what: string) => string {
  const { t } = useTranslation('calls');
  const returnedName = useReturnedName();
  const amountOf = (event: string) => timeline.find(({ what }) => what === event)?.amount ?? null;
  return (what) => {
    if (what === 'released') return returnedName({ settled: amountOf('settled'), released: amountOf(what) });
    if (what in EVENTS) return t(`charge.events.${EVENTS[what as keyof typeof EVENTS]}`);
    return what.startsWith(REFUSED) ? t('charge.refused', { code: what.slice(REFUSED.length) }) : what;
  };
}

/** The models that the request named, as far as they were tried; the one that served it was charged. */
function Attempts({ charge }: { charge: Shape<'Charge'> }) {
  return (
    <Stack gap="xs">
      {charge.attempts.map((attempt) => (
        <Group key={attempt.id} gap="xs">
          <TextLink to="/logs" search={{ charge: attempt.id }} size="sm" className="model-name">
            {attempt.model ?? attempt.id}
          </TextLink>
          <ChargeBadge charge={attempt} />
        </Group>
      ))}
    </Stack>
  );
}

function Ids({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('calls');
  const nameOf = useKeyName();
  const { id, requestId, keyId, group, task } = charge;
  return (
    <Stack gap="xs">
      {keyId !== null && (
        <Text size="sm">
          {t('charge.key', { key: nameOf(keyId) })}
          {group !== null && ` · ${t('charge.group', { group })}`}
        </Text>
      )}
      <CopyFact name={t('charge.requestId')} value={requestId} />
      <CopyFact name={t('charge.chargeId')} value={id} />
      {task && (
        <TextLink to="/tasks" search={{ task: task.id }} size="sm">
          {t('charge.toTask')}
        </TextLink>
      )}
    </Stack>
  );
}
