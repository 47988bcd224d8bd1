import { Group, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useRead } from '../../api/client.js';
import { Who } from '../../shell/who.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { BackLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import { ChargeFacts } from '../charges/charge-facts.js';
import { RefundAction } from './refund-action.js';
import { ReplyForm } from './reply-form.js';
import { ResellerRequest } from './reseller-request.js';
import { StaffTicketBadge } from './ticket-columns.js';
import { TicketContext } from './ticket-context.js';
import { takeTicket } from './ticket.js';
import { WaitingTime } from './waiting-time.js';
import { ActionButton } from '../../ui/action-button.js';
import { TicketConversation, EventLine, Message } from '../../ui/conversation.js';

const LOOK_AGAIN = { refetchInterval: 15_000 };

/** A ticket with everything needed to answer it. Anyone on the team may answer. */
export default function SupportTicketPage() {
  const { t } = useTranslation('support');
  const { ticketId } = useParams({ from: '/support/tickets/$ticketId' });
  const params = { path: { ticketId } };
  const ticket = useRead('/api/support/tickets/{ticketId}', params, LOOK_AGAIN);
  return (
    <PageFrame
      title={ticket.data?.subject ?? t('ticket.title')}
      actions={ticket.data && <Actions ticket={ticket.data} />}
    >
      <BackLink to="/support/tickets">{t('ticket.back')}</BackLink>
      <Loaded query={ticket} lines={10}>
        {(found) => (
          <div className="with-aside">
            <Answering ticket={found} />
            <TicketContext ticket={found} />
          </div>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Answering({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const { id, state, reseller } = ticket;
  return (
    <Stack>
      <Head ticket={ticket} />
      {reseller && <ResellerRequest ticket={ticket} reseller={reseller} />}
      <Messages ticket={ticket} />
      {state === 'closed' ? <Hint>{t('ticket.closed')}</Hint> : <ReplyForm ticket={ticket} key={id} />}
    </Stack>
  );
}

function Head({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const { kind, chargeId, createdAt, waitingSince } = ticket;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <StaffTicketBadge ticket={ticket} />
        {waitingSince !== null && (
          <Text size="sm">
            {t('queue.waiting')} <WaitingTime since={waitingSince} />
          </Text>
        )}
        <Text size="sm">{t(`ticketKinds.${kind}`)}</Text>
        <Hint>
          {t('queue.created')} <Ago at={createdAt} />
        </Hint>
      </Group>
      {chargeId !== null && <ChargeFacts chargeId={chargeId} />}
    </Stack>
  );
}

function Messages({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  return (
    <TicketConversation label={t('ticket.conversation')}>
      {ticket.messages.map(({ id, kind, fromStaff, authorId, body, createdAt }) =>
        kind === 'event' ? (
          <EventLine key={id} at={createdAt}>
            {body} · <Who actor={authorId} />
          </EventLine>
        ) : (
          <Message
            key={id}
            author={<Author message={{ kind, fromStaff, authorId }} />}
            at={createdAt}
            body={body}
            isOwn={fromStaff}
            isNote={kind === 'note'}
          />
        ),
      )}
    </TicketConversation>
  );
}

type TicketMessage = Shape<'StaffTicket'>['messages'][number];

function Author({ message }: { message: Pick<TicketMessage, 'kind' | 'fromStaff' | 'authorId'> }) {
  const { t } = useTranslation('support');
  const { kind, fromStaff, authorId } = message;
  return (
    <>
      {kind === 'note' ? t('ticket.note') : t(fromStaff ? 'ticket.support' : 'ticket.customer')}
      {' · '}
      <Who actor={authorId} />
    </>
  );
}

function Actions({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const params = { path: { ticketId: ticket.id } };
  const reopen = async () =>
    takeTicket((await api.POST('/api/support/tickets/{ticketId}/reopen', { params })).data);
  if (ticket.state === 'closed') {
    return <ActionButton act={reopen}>{t('ticket.reopen')}</ActionButton>;
  }
  return (
    <>
      <RefundAction ticket={ticket} />
      <ConfirmAction
        texts={t('ticket.close')}
        isDangerous={false}
        act={async () =>
          takeTicket((await api.POST('/api/support/tickets/{ticketId}/close', { params })).data)
        }
      />
    </>
  );
}
