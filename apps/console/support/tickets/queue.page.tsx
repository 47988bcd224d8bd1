import { Group, SegmentedControl, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/lists.js';
import { useFilter } from '../../ui/address.js';
import { Choice } from '../../ui/lists/choice.js';
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

/** Tickets that wait for an answer, the oldest first. */
export function TicketQueuePage() {
  const { t } = useTranslation('support');
  const { state = 'open', kind } = route.useSearch();
  const asked = state === 'all' ? undefined : state;
  const tickets = useList(
    '/api/support/tickets',
    { query: { limit: PAGE, kind, state: asked } },
    { refetchInterval: LOOK_AGAIN_MS },
  );
  const isWaiting = state === 'open' && kind === undefined;
  return (
    <PageFrame title={t('queue.title')} about={t('queue.about')}>
      <Stack>
        <Filters />
        <DataList
          label={t('queue.label')}
          query={tickets}
          columns={useTicketColumns()}
          rowKey={({ id }) => id}
          empty={{
            title: isWaiting ? t('queue.done') : t('queue.noMatch'),
            hint: isWaiting ? t('queue.doneHint') : t('queue.noMatchHint'),
            action: isWaiting && (
              <ButtonLink to="/support/tickets" search={{ state: 'all' }} variant="default">
                {t('queue.states.all')}
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
  const { state = 'open', kind } = route.useSearch();
  const set = useFilter();
  return (
    <Group align="flex-end" gap="sm">
      <SegmentedControl
        aria-label={t('queue.state')}
        value={state}
        onChange={(chosen) => set({ state: chosen === 'open' ? undefined : chosen })}
        data={STATES.map((value) => ({ value, label: t(`queue.states.${value}`) }))}
      />
      <Choice
        label={t('queue.kind')}
        any={t('queue.any')}
        options={ticketTypes.map((value) => ({ value, label: t(`ticketKinds.${value}`) }))}
        value={kind}
        set={(value) => set({ kind: value })}
        width="14rem"
      />
    </Group>
  );
}
