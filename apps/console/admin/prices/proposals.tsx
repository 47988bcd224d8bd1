import { Stack } from '@mantine/core';
import { useSearch, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { refresh, type Shape, useList } from '../../api/client.js';
import { column, numberColumn, personColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';

const PAGE = 25;
const TONES: Record<Shape<'PriceProposalSummary'>['state'], Tone> = {
  open: 'waiting',
  confirmed: 'good',
  cancelled: 'quiet',
  expired: 'quiet',
};

export function ProposalState({ state }: { state: Shape<'PriceProposalSummary'>['state'] }) {
  const { t } = useTranslation('prices');
  return <StatusBadge tone={TONES[state]}>{t(`states.${state}`)}</StatusBadge>;
}

/** Once it is made or changed. */
export function useOpenProposal(): (proposalId: string) => Promise<void> {
  const navigate = useNavigate();
  return async (proposalId) => {
    await refresh('/api/admin/price-proposals', '/api/admin/price-proposals/{proposalId}');
    await refresh('/api/admin/price-proposals/{proposalId}/preview');
    await navigate({
      to: '/admin/prices/proposals/$proposalId',
      params: { proposalId },
      ignoreBlocker: true,
    });
  };
}

export function Proposals() {
  const { t } = useTranslation('prices');
  const { state = 'all' } = useSearch({ from: '/admin/prices' });
  const proposals = useList('/api/admin/price-proposals', { query: { state, limit: PAGE } });
  const options = optionsOf(['all', 'open'] as const, t('proposals'));
  return (
    <Stack align="stretch">
      <SwitchFilter param="state" label={t('columns.state')} options={options} replace={false} />
      <DataList
        label={t('proposals.label')}
        query={proposals}
        columns={useColumns()}
        empty={{
          title: state === 'open' ? t('proposals.noneOpen') : t('proposals.none'),
          hint: t('proposals.noneHint'),
          action: <ButtonLink to="/admin/prices/propose">{t('propose.open')}</ButtonLink>,
        }}
      />
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'PriceProposalSummary'>>[] {
  const { t } = useTranslation('prices');
  return [
    column('note', t('columns.note'), ({ id, note, proposedAt }) => (
      <TextLink to="/admin/prices/proposals/$proposalId" params={{ proposalId: id }} size="sm">
        {note || <When at={proposedAt} />}
      </TextLink>
    )),
    numberColumn('changes', t('columns.changes')),
    column('state', t('columns.state'), ({ state }) => <ProposalState state={state} />),
    personColumn('proposedBy', t('columns.proposedBy')),
    timeColumn('proposedAt', t('columns.proposedAt')),
    timeColumn('effectiveAt', t('columns.effective'), t('value.whenConfirmed')),
  ];
}
