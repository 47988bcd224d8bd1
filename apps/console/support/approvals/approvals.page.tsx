import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { type Shape, useList, useRead } from '../../api/client.js';
import {
  column,
  longTextColumn,
  menuColumn,
  moneyColumn,
  personColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { OpenLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { ApprovalDetails } from './approval-details.js';
import { ApprovalBadge, useKindName } from './approval.js';
import { OpenPanel } from '../../ui/forms/dialog.js';

const PAGE = 25;
const states = everyWord<Shape<'Approval'>['state']>()('pending', 'approved', 'rejected');

/** What one person requested and another must approve. */
export default function ApprovalsPage() {
  const { t } = useTranslation('support');
  const options = optionsOf(states, t('approvals.states'));
  return (
    <PageFrame title={t('approvals.title')} about={t('approvals.about')}>
      <SwitchFilter param="state" label={t('approvals.state')} options={options} />
      <ApprovalList />
      <OpenPanel param="approval" title={t('approvals.one')}>
        {(id) => <OpenApproval id={id} />}
      </OpenPanel>
    </PageFrame>
  );
}

function ApprovalList() {
  const { t } = useTranslation('support');
  const { state = 'pending' } = useSearch({ from: '/approvals' });
  const approvals = useList('/api/approvals', { query: { state, limit: PAGE } });
  return (
    <DataList
      label={t('approvals.label')}
      query={approvals}
      columns={useColumns()}
      empty={state === 'pending' ? t('approvals.empty') : t('approvals.noneDecided')}
    />
  );
}

function useColumns(): ListColumn<Shape<'Approval'>>[] {
  const { t } = useTranslation('support');
  const kindName = useKindName();
  return [
    column('kind', t('approvals.kind'), ({ id, kind }) => (
      <OpenLink param="approval" value={id} size="sm">
        {kindName(kind)}
      </OpenLink>
    )),
    moneyColumn('amount', t('approvals.amount')),
    longTextColumn('reason', t('approvals.reason')),
    personColumn('requestedBy', t('approvals.by')),
    timeColumn('createdAt', t('approvals.at')),
    column('state', t('approvals.state'), ({ state }) => <ApprovalBadge state={state} />),
    menuColumn(({ id }) => [{ copy: id }]),
  ];
}

function OpenApproval({ id }: { id: string }) {
  const approval = useRead('/api/approvals/{approvalId}', { path: { approvalId: id } });
  return (
    <Loaded query={approval} lines={8}>
      {(found) => <ApprovalDetails approval={found} />}
    </Loaded>
  );
}
