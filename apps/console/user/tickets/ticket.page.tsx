import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, keepAnswer, refresh, type Shape, useRead } from '../../api/client.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { FormFault, useSend } from '../../ui/forms/form.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { BackLink, TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { TicketBadge } from './ticket-state.js';
import { ActionButton } from '../../ui/action-button.js';
import { TicketConversation, EventLine, Message } from '../../ui/conversation.js';

const MOST_BODY_CHARS = 10_000;

/** Support's answers appear without a reload. */
const LOOK_AGAIN_MS = 15_000;

export default function TicketPage() {
  const { t } = useTranslation('tickets');
  const { ticketId } = useParams({ from: '/user/tickets/$ticketId' });
  const ticket = useRead(
    '/api/tickets/{ticketId}',
    { path: { ticketId } },
    { refetchInterval: LOOK_AGAIN_MS },
  );
  return (
    <PageFrame title={ticket.data?.subject ?? t('one.title')} width={50}>
      <BackLink to="/tickets">{t('one.back')}</BackLink>
      <Loaded query={ticket} lines={8}>
        {(found) => (
          <Stack>
            <Head ticket={found} />
            <Messages ticket={found} />
            {found.state === 'closed' ? <Closed ticket={found} /> : <Reply ticket={found} />}
          </Stack>
        )}
      </Loaded>
    </PageFrame>
  );
}

/** The server answers with the whole ticket. */
async function take(ticket: Shape<'TicketWithMessages'> | undefined): Promise<void> {
  if (!ticket) return;
  keepAnswer('/api/tickets/{ticketId}', { path: { ticketId: ticket.id } }, ticket);
  await refresh('/api/tickets');
}

function Head({ ticket }: { ticket: Shape<'TicketWithMessages'> }) {
  const { t } = useTranslation('tickets');
  return (
    <Group>
      <TicketBadge ticket={ticket} />
      <Text size="sm">{t(`kinds.${ticket.kind}`)}</Text>
      {ticket.chargeId !== null && (
        <TextLink to="/logs" search={{ charge: ticket.chargeId }} size="sm">
          {t('one.charge')}
        </TextLink>
      )}
    </Group>
  );
}

function Messages({ ticket }: { ticket: Shape<'TicketWithMessages'> }) {
  const { t } = useTranslation('tickets');
  return (
    <TicketConversation label={t('one.conversation')}>
      {ticket.messages.map(({ id, kind, fromStaff, body, createdAt }) =>
        kind === 'event' ? (
          <EventLine key={id} at={createdAt}>
            {body}
          </EventLine>
        ) : (
          <Message
            key={id}
            author={fromStaff ? t('one.support') : t('one.you')}
            at={createdAt}
            body={body}
            isOwn={!fromStaff}
          />
        ),
      )}
    </TicketConversation>
  );
}

function useReply({ id }: Shape<'TicketWithMessages'>) {
  const { t } = useTranslation('tickets');
  const params = { path: { ticketId: id } };
  const form = useForm({
    initialValues: { body: '' },
    validate: { body: (value) => (value.trim() ? null : t('new.bodyMissing')) },
  });
  const sending = useSend({
    form,
    send: async (body) => (await api.POST('/api/tickets/{ticketId}/messages', { params, body })).data!,
    done: async (changed) => {
      form.reset();
      await take(changed);
    },
  });
  return { form, ...sending };
}

function Reply({ ticket }: { ticket: Shape<'TicketWithMessages'> }) {
  const { t } = useTranslation('tickets');
  const { form, onSubmit, isSending, failure } = useReply(ticket);
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <LeaveGuard isDirty={form.isDirty} />
      <Textarea
        label={t('one.reply')}
        autosize
        minRows={3}
        maxRows={20}
        maxLength={MOST_BODY_CHARS}
        {...form.getInputProps('body')}
      />
      <FormFault error={failure} />
      <Group justify="space-between">
        <Button type="submit" loading={isSending}>
          {t('one.send')}
        </Button>
        <Close ticket={ticket} />
      </Group>
    </form>
  );
}

function Close({ ticket }: { ticket: Shape<'TicketWithMessages'> }) {
  const { t } = useTranslation('tickets');
  const params = { path: { ticketId: ticket.id } };
  return (
    <ConfirmAction
      texts={t('one.close')}
      isDangerous={false}
      act={async () => take((await api.POST('/api/tickets/{ticketId}/close', { params })).data)}
    />
  );
}

function Closed({ ticket }: { ticket: Shape<'TicketWithMessages'> }) {
  const { t } = useTranslation('tickets');
  const params = { path: { ticketId: ticket.id } };
  const reopen = async () => take((await api.POST('/api/tickets/{ticketId}/reopen', { params })).data);
  return (
    <Group>
      <Text>{t('one.closed')}</Text>
      <ActionButton act={reopen}>{t('one.reopen')}</ActionButton>
    </Group>
  );
}
