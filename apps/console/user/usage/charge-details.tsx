import { Alert, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { CopyFact } from '../../ui/copy.js';
import { OpenPanel } from '../../ui/forms/dialog.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { LargeMoney, Money } from '../../ui/money.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { useFaultText } from '../fault-text.js';
import { useKeyName } from '../keys.js';
import { Calculation } from './calculation.js';
import { ChargeBadge } from './charge-state.js';
import { useReturnedName } from './returned-name.js';

interface ChargeProps {
  charge: Shape<'Charge'>;
}

/** Opens the request that the address names. */
export function ChargePanel() {
  const { t } = useTranslation('calls');
  return (
    <OpenPanel param="charge" size="xl" title={t('charge.title')}>
      {(id) => <ChargeDetails id={id} />}
    </OpenPanel>
  );
}

/** Why a request cost what it did. */
function ChargeDetails({ id }: { id: string }) {
  const charge = useRead('/api/charges/{chargeId}', { path: { chargeId: id } });
  return (
    <Loaded query={charge} lines={12}>
      {(found) => <Details charge={found} />}
    </Loaded>
  );
}

function Details({ charge }: ChargeProps) {
  const { t } = useTranslation('calls');
  return (
    <Stack gap="lg">
      <Head charge={charge} />
      <Section title={t('charge.why')}>
        <Calculation charge={charge} />
      </Section>
      <Section title={t('charge.timeline')}>
        <Timeline charge={charge} />
      </Section>
      {charge.attempts.length > 1 && (
        <Section title={t('charge.attempts')}>
          <Attempts charge={charge} />
        </Section>
      )}
      <Section title={t('charge.ids')}>
        <Ids charge={charge} />
      </Section>
      {charge.state === 'settled' && <AskRefund chargeId={charge.id} />}
    </Stack>
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

function Head({ charge }: ChargeProps) {
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

function Outcome({ charge: { refusal, state, hold, settlement } }: ChargeProps) {
  const faultText = useFaultText();
  if (refusal)
    return (
      <Alert color="red" title={faultText(refusal.code)}>
        {refusal.message}
      </Alert>
    );
  return <LargeMoney value={(state === 'held' ? hold : settlement)?.amount ?? '0'} />;
}

/** The server's words; some contain a code. */
const EVENTS = {
  'task created': 'taskCreated',
  'task completed': 'taskCompleted',
  'task failed': 'taskFailed',
  held: 'held',
  settled: 'settled',
  refunded: 'refunded',
} as const;

const REFUSED = 'refused: ';

function Timeline({ charge }: ChargeProps) {
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
      <Reasons charge={charge} />
    </Stack>
  );
}

function Reasons({ charge: { release, refunds } }: ChargeProps) {
  const { t } = useTranslation('calls');
  return (
    <>
      {release?.reason && <Text size="sm">{t('charge.releasedFor', { reason: release.reason })}</Text>}
      {refunds.map(({ id, reason }) => (
        <Text key={id} size="sm">
          {t('charge.refundedFor', { reason })}
        </Text>
      ))}
    </>
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

/** The models that were tried for the request; only the one that served it was charged. */
function Attempts({ charge }: ChargeProps) {
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

function Ids({ charge }: ChargeProps) {
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
