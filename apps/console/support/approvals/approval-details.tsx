import { Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, keepAnswer, refreshAll, type Shape } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { useOnePerson } from '../../shell/one-person.js';
import { mayAny, useSession } from '../../shell/session.js';
import { WhoAndWhen, Who } from '../../shell/who.js';
import { fieldsOf } from '../../ui/forms/fields-of.js';
import { Named } from '../../ui/named.js';
import { TextLink } from '../../ui/links.js';
import { LargeMoney } from '../../ui/money.js';
import { ReasonAction } from '../../ui/forms/reason-action.js';
import { ApprovalBadge, useKindName } from './approval.js';

/** A request for approval, field by field, and the decision. */
export function ApprovalDetails({ approval }: { approval: Shape<'Approval'> }) {
  const { t } = useTranslation('support');
  const kindName = useKindName();
  const { kind, state, amount, reason, self } = approval;
  return (
    <Stack>
      <Group>
        <Text fw={600}>{kindName(kind)}</Text>
        <ApprovalBadge state={state} />
      </Group>
      {amount !== null && <LargeMoney value={amount} />}
      <Text className="spoken">{reason}</Text>
      <People approval={approval} />
      {self && <Text size="sm">{t('approvals.self')}</Text>}
      <Fields approval={approval} />
      {state === 'pending' && <Decision approval={approval} />}
    </Stack>
  );
}

function People({ approval }: { approval: Shape<'Approval'> }) {
  const { t } = useTranslation('support');
  const { requestedBy, createdAt, decidedBy, decidedAt, decisionNote } = approval;
  return (
    <>
      <WhoAndWhen what={t('approvals.askedBy')} actor={requestedBy} at={createdAt} />
      <WhoAndWhen what={t('approvals.decidedBy')} actor={decidedBy} at={decidedAt}>
        {decisionNote && ` · ${decisionNote}`}
      </WhoAndWhen>
    </>
  );
}

/** Fields with a label, without places in lists; others show the server's name. */
const NAMED = [
  'subject',
  'accountId',
  'chargeId',
  'ticketId',
  'orderId',
  'paymentId',
  'userId',
  'note',
  'channel',
  'baseUrl',
  'models.modelId',
  'models.upstreamId',
  'sales.group',
  'sales.model',
  'groups',
] as const;

function Fields({ approval }: { approval: Shape<'Approval'> }) {
  const { t } = useTranslation('support');
  const { subject, accountId, amount, details, outcome } = approval;
  const asked = fieldsOf(details).filter(({ path, value }) => path.join() !== 'amount' || value !== amount);
  const isNamedBelow = asked.some(({ value }) => subject.endsWith(`:${value}`));
  const about = fieldsOf({ subject: isNamedBelow ? null : subject, accountId });
  return (
    <Table aria-label={t('approvals.details')} layout="fixed">
      <Table.Tbody>
        {[...about, ...asked, ...fieldsOf(outcome)].map(({ path, value }, at) => (
          <Field key={`${path.join('.')} ${at}`} name={path.join('.')} value={value} accountId={accountId} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface FieldProps {
  name: string;
  value: string;
  accountId: string | null;
}

function Field(field: FieldProps) {
  const { t } = useTranslation('support');
  const known = NAMED.find((each) => each === field.name.replace(/\.\d+\./, '.'));
  return (
    <Table.Tr>
      <Table.Th scope="row" w="35%">
        {known ? t(`approvals.fields.${known}`) : field.name}
      </Table.Th>
      <Table.Td className="model-name">
        <Value {...field} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Links to what an id names, for people who may open it. */
function Value({ name, value, accountId }: FieldProps) {
  const session = useSession();
  const isSupport = mayAny(session, ['support', 'admin']);
  if (name === 'userId') return <Who actor={value} />;
  if (mayAny(session, ['support']) && name === 'chargeId' && accountId !== null)
    return (
      <TextLink
        to="/support/accounts/$accountId"
        params={{ accountId }}
        search={{ tab: 'usage', charge: value }}
        size="xs"
        ff="monospace"
      >
        {value}
      </TextLink>
    );
  const account = name === 'accountId' ? <Named kind="account" id={value} /> : null;
  if (isSupport && account)
    return (
      <TextLink to="/support/accounts/$accountId" params={{ accountId: value }} size="sm">
        {account}
      </TextLink>
    );
  if (isSupport && name === 'ticketId')
    return (
      <TextLink to="/support/tickets/$ticketId" params={{ ticketId: value }} size="xs" ff="monospace">
        {value}
      </TextLink>
    );
  return account ?? <>{value}</>;
}

async function take(approval: Shape<'Approval'> | undefined): Promise<void> {
  if (!approval) return;
  keepAnswer('/api/approvals/{approvalId}', { path: { approvalId: approval.id } }, approval);
  await refreshAll();
}

function Decision({ approval }: { approval: Shape<'Approval'> }) {
  const { t } = useTranslation('support');
  const session = useSession();
  const isOnePerson = useOnePerson();
  const isOwn = approval.requestedBy === session?.userId;
  if (isOwn && !isOnePerson) return <Text>{t('approvals.own')}</Text>;
  return (
    <Group>
      <Approve id={approval.id} isOwn={isOwn} />
      <Reject id={approval.id} />
    </Group>
  );
}

function Approve({ id, isOwn }: { id: string; isOwn: boolean }) {
  const { t } = useTranslation('support');
  return (
    <ReasonAction
      variant="filled"
      texts={t('approvals.approve')}
      field={{ name: 'note', label: t('approvals.note'), hint: t('approvals.noteOptional') }}
      isDangerous={false}
      act={async (note) => {
        const params = { path: { approvalId: id } };
        const body = note ? { note } : {};
        await take((await api.POST('/api/approvals/{approvalId}/approve', { params, body })).data);
        notify(t('approvals.approved'));
      }}
    >
      <Text>{t('approvals.approveHint')}</Text>
      {isOwn && <Text>{t('approvals.ownAlone')}</Text>}
    </ReasonAction>
  );
}

function Reject({ id }: { id: string }) {
  const { t } = useTranslation('support');
  return (
    <ReasonAction
      texts={t('approvals.reject')}
      field={{ name: 'note', label: t('approvals.note'), hint: t('approvals.noteHint') }}
      missing={t('actions.reasonMissing')}
      act={async (note) => {
        const params = { path: { approvalId: id } };
        await take((await api.POST('/api/approvals/{approvalId}/reject', { params, body: { note } })).data);
      }}
    />
  );
}
