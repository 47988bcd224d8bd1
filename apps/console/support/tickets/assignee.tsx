import { Select } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useRead } from '../../api/client.js';
import { notifyFailure } from '../../shell/notices.js';
import { useSession } from '../../shell/session.js';
import { Who } from '../../shell/who.js';
import { ActionButton } from '../../ui/action-button.js';
import { takeTicket } from './ticket.js';

async function assign(ticketId: string, assigneeId: string | null): Promise<void> {
  const params = { path: { ticketId } };
  const { data } = await api.PUT('/api/support/tickets/{ticketId}/assignee', {
    params,
    body: { assigneeId },
  });
  await takeTicket(data);
}

/** The assignee of a ticket in the queue, or a button to take it. */
export function Assignee({ ticket }: { ticket: Pick<Shape<'QueuedTicket'>, 'id' | 'assigneeId' | 'state'> }) {
  const { t } = useTranslation('support');
  const session = useSession();
  const { id, assigneeId, state } = ticket;
  if (assigneeId !== null) return <Who actor={assigneeId} />;
  if (state === 'closed' || !session) return '–';
  return (
    <ActionButton size="compact-xs" act={() => assign(id, session.userId)}>
      {t('assignee.take')}
    </ActionButton>
  );
}

/** Assigns a ticket to a member of the support team. */
export function AssigneeField({ ticket: { id, assigneeId } }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const session = useSession();
  const colleagues = useRead('/api/support/colleagues');
  const handing = useMutation({
    mutationFn: (to: string | null) => assign(id, to),
    onError: notifyFailure,
  });
  const options = (colleagues.data?.items ?? []).map(({ id: value, email }) => ({
    value,
    label: value === session?.userId ? t('assignee.me', { email }) : email,
  }));
  return (
    <Select
      label={t('assignee.label')}
      placeholder={t('assignee.none')}
      data={options}
      value={assigneeId}
      onChange={(to) => handing.mutate(to)}
      disabled={colleagues.data === undefined || handing.isPending}
      clearable
      clearButtonProps={{ 'aria-label': t('assignee.clear') }}
    />
  );
}
