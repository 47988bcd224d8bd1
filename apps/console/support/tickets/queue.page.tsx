import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/client.js';
import { useSession } from '../../shell/session.js';
import { Choice, SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { DataList } from '../../ui/lists/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { useTicketColumns } from './ticket-columns.js';
import { ticketTypes } from '../../api/enumerations.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

const PAGE = 25;

/** New tickets appear without a reload. */
const LOOK_AGAIN = { refetchInterval: 30_000 };
const STATES = ['open', 'answered', 'closed', 'all'] as const;
const WHOSE = ['all', 'me', 'none'] as const;

/** Tickets that wait for an answer, longest wait first. */
export default function TicketQueuePage() {
  const { t } = useTranslation('support');
  return (
    <PageFrame title={t('queue.title')} about={t('queue.about')}>
      <Stack>
        <Filters />
        <Queue />
      </Stack>
    </PageFrame>
  );
}

function Queue() {
  const { t } = useTranslation('support');
  const { state = 'open', kind, assignee } = useSearch({ from: '/support/tickets' });
  const session = useSession();
  const asked = state === 'all' ? undefined : state;
  const whose = assignee === 'me' ? session?.userId : assignee;
  const query = { limit: PAGE, kind, state: asked, assignee: whose } as const;
  const tickets = useList('/api/support/tickets', { query }, LOOK_AGAIN);
  const isDone = state === 'open' && kind === undefined && assignee === undefined;
  return (
    <DataList
      label={t('queue.label')}
      query={tickets}
      columns={useTicketColumns(state === 'open')}
      empty={isDone ? { ...t('queue.done'), action: <ShowAll /> } : t('queue.noMatch')}
    />
  );
}

function ShowAll() {
  const { t } = useTranslation('support');
  return (
    <ButtonLink to="/support/tickets" search={{ state: 'all' }} variant="default">
      {t('queue.showAll')}
    </ButtonLink>
  );
}

function Filters() {
  const { t } = useTranslation('support');
  return (
    <Toolbar>
      <SwitchFilter param="state" label={t('queue.state')} options={optionsOf(STATES, t('queue.states'))} />
      <SwitchFilter
        param="assignee"
        label={t('assignee.label')}
        options={optionsOf(WHOSE, t('assignee.whose'))}
      />
      <Choice
        label={t('queue.kind')}
        options={optionsOf(ticketTypes, t('ticketKinds'))}
        param="kind"
        width="14rem"
      />
    </Toolbar>
  );
}
