import { Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/lists.js';
import { useSession } from '../../shell/session.js';
import { Choice, SwitchFilter } from '../../ui/lists/choice.js';
import { DataList } from '../../ui/lists/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { useTicketColumns } from './ticket-columns.js';
import { ticketTypes } from '../../api/enumerations.js';

const route = getRouteApi('/support/tickets');
const PAGE = 25;

/** New tickets come without anybody pressing anything. */
const LOOK_AGAIN_MS = 30_000;
const STATES = ['open', 'answered', 'closed', 'all'] as const;
const WHOSE = ['all', 'me', 'none'] as const;

/** Tickets that wait for an answer: whose customers have waited longest come first. */
export function TicketQueuePage() {
  const { t } = useTranslation('support');
  const { state = 'open', kind, assignee } = route.useSearch();
  const session = useSession();
  const asked = state === 'all' ? undefined : state;
  const tickets = useList(
    '/api/support/tickets',
    { query: { limit: PAGE, kind, state: asked, assignee: assignee === 'me' ? session?.userId : assignee } },
    { refetchInterval: LOOK_AGAIN_MS },
  );
  const isWaiting = state === 'open' && kind === undefined && assignee === undefined;
  return (
    <PageFrame title={t('queue.title')} about={t('queue.about')}>
      <Stack>
        <Filters />
        <DataList
          label={t('queue.label')}
          query={tickets}
          columns={useTicketColumns(state === 'open')}
          rowKey={({ id }) => id}
          empty={{
            title: isWaiting ? t('queue.done') : t('queue.noMatch'),
            hint: isWaiting ? t('queue.doneHint') : t('queue.noMatchHint'),
            action: isWaiting && (
              <ButtonLink to="/support/tickets" search={{ state: 'all' }} variant="default">
                {t('queue.showAll')}
              </ButtonLink>
            ),
          }}
          isPaged
        />
      </Stack>
    </PageFrame>
  );
}

function Filters() {
  const { t } = useTranslation('support');
  return (
    <Group align="flex-end" gap="sm">
      <SwitchFilter
        param="state"
        label={t('queue.state')}
        options={STATES.map((value) => ({ value, label: t(`queue.states.${value}`) }))}
      />
      <SwitchFilter
        param="assignee"
        label={t('assignee.label')}
        options={WHOSE.map((value) => ({ value, label: t(`assignee.whose.${value}`) }))}
      />
      <Choice
        label={t('queue.kind')}
        any={t('queue.any')}
        options={ticketTypes.map((value) => ({ value, label: t(`ticketKinds.${value}`) }))}
        param="kind"
        width="14rem"
      />
    </Group>
  );
}
