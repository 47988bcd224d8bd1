import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { Who } from '../../shell/who.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { BackLink, TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { When } from '../../ui/when.js';
import { ChargeFacts } from '../charges/charge-facts.js';
import { RefundAction } from './refund-action.js';
import { ReplyForm } from './reply-form.js';
import { ResellerRequest } from './reseller-request.js';
import { StaffTicketBadge } from './ticket-columns.js';
import { takeTicket } from './ticket.js';
import { ActionButton } from '../../ui/action-button.js';
import { TicketConversation, EventLine, Message } from '../../ui/conversation.js';

const route = getRouteApi('/support/tickets/$ticketId');
const LOOK_AGAIN_MS = 15_000;

/** A ticket with everything that is needed to answer it. Anyone may answer; each answer has its author's name. */
export function SupportTicketPage() {
  const { t } = useTranslation('support');
  const { ticketId } = route.useParams();
  const ticket = $api.useQuery(
    'get',
    '/api/support/tickets/{ticketId}',
    { params: { path: { ticketId } } },
    { refetchInterval: LOOK_AGAIN_MS },
  );
  return (
    <PageFrame title={ticket.data?.subject ?? t('ticket.title')} width={56}>
      <BackLink to="/support/tickets">{t('ticket.back')}</BackLink>
      <Loaded query={ticket} lines={10}>
        {(found) => (
          <Stack>
            <Head ticket={found} />
            {found.reseller && <ResellerRequest ticket={found} reseller={found.reseller} />}
            <Messages ticket={found} />
            {found.state !== 'closed' && <ReplyForm ticket={found} />}
            <Actions ticket={found} />
          </Stack>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Head({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const { accountId, kind, chargeId, createdAt } = ticket;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <StaffTicketBadge ticket={ticket} />
        <Text size="sm">{t(`ticketKinds.${kind}`)}</Text>
        <Hint>
          <When at={createdAt} />
        </Hint>
        <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm">
          {t('ticket.account')}
        </TextLink>
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
            author={
              <>
                {kind === 'note' ? t('ticket.note') : t(fromStaff ? 'ticket.support' : 'ticket.customer')}
                {fromStaff && (
                  <>
                    {' · '}
                    <Who actor={authorId} />
                  </>
                )}
              </>
            }
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

function Actions({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const params = { path: { ticketId: ticket.id } };
  const reopen = async () =>
    takeTicket((await api.POST('/api/support/tickets/{ticketId}/reopen', { params })).data);
  if (ticket.state === 'closed') {
    return (
      <Group>
        <Text>{t('ticket.closed')}</Text>
        <ActionButton act={reopen}>{t('ticket.reopen')}</ActionButton>
      </Group>
    );
  }
  return (
    <Group>
      <RefundAction ticket={ticket} />
      <ConfirmAction
        label={t('ticket.close')}
        title={t('ticket.closeTitle')}
        isDangerous={false}
        act={async () =>
          takeTicket((await api.POST('/api/support/tickets/{ticketId}/close', { params })).data)
        }
        hint={t('ticket.closeHint')}
      />
    </Group>
  );
}
