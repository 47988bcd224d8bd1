import { SegmentedControl, Stack } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Item } from '../../api/queries.js';
import { Who } from '../../shell/who.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { When } from '../../ui/when.js';

const route = getRouteApi('/admin/prices');
const PAGE = 25;

type Proposal = Item<'/api/admin/price-proposals'>;

const TONES: Record<Proposal['state'], Tone> = {
  open: 'waiting',
  confirmed: 'good',
  cancelled: 'quiet',
  expired: 'quiet',
};

export function ProposalState({ state }: { state: Proposal['state'] }) {
  const { t } = useTranslation('prices');
  return <StatusBadge tone={TONES[state]}>{t(`states.${state}`)}</StatusBadge>;
}

/** What was proposed, the newest first; those that wait for a decision by a switch. */
export function Proposals() {
  const { t } = useTranslation('prices');
  const { state = 'all', cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const proposals = $api.useQuery(
    'get',
    '/api/admin/price-proposals',
    { params: { query: { state, limit: PAGE, cursor } } },
    { placeholderData: keepPreviousData },
  );
  const propose = <ButtonLink to="/admin/prices/propose">{t('propose.open')}</ButtonLink>;
  return (
    <Stack align="stretch">
      <SegmentedControl
        w="fit-content"
        aria-label={t('columns.state')}
        value={state}
        onChange={(chosen) =>
          void navigate({ search: { tab: 'proposals', ...(chosen === 'open' ? { state: 'open' } : {}) } })
        }
        data={[
          { value: 'all', label: t('proposals.all') },
          { value: 'open', label: t('proposals.open') },
        ]}
      />
      <DataList
        label={t('proposals.label')}
        query={proposals}
        columns={useColumns()}
        rowKey={({ id }) => id}
        empty={{
          title: state === 'open' ? t('proposals.noneOpen') : t('proposals.none'),
          hint: t('proposals.noneHint'),
          action: propose,
        }}
        pager={{ cursor, go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }) }}
      />
    </Stack>
  );
}

function useColumns(): Column<Proposal>[] {
  const { t } = useTranslation('prices');
  return [
    {
      id: 'note',
      header: t('columns.note'),
      cell: ({ id, note, proposedAt }) => (
        <TextLink to="/admin/prices/proposals/$proposalId" params={{ proposalId: id }} size="sm">
          {note || <When at={proposedAt} />}
        </TextLink>
      ),
    },
    { id: 'changes', header: t('columns.changes'), align: 'right', cell: ({ changes }) => changes },
    { id: 'state', header: t('columns.state'), cell: ({ state }) => <ProposalState state={state} /> },
    { id: 'by', header: t('columns.proposedBy'), cell: ({ proposedBy }) => <Who actor={proposedBy} /> },
    { id: 'at', header: t('columns.proposedAt'), cell: ({ proposedAt }) => <When at={proposedAt} /> },
    {
      id: 'effective',
      header: t('columns.effective'),
      cell: ({ effectiveAt }) =>
        effectiveAt === null ? t('value.whenConfirmed') : <When at={effectiveAt} />,
    },
  ];
}
