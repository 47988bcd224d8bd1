import { Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { tell } from '../../shell/notices.js';
import { Who } from '../../shell/who.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { ModalForm, NoteField, useNoteCheck } from '../modal-form.js';
import { refreshDesk, type WriteOff } from './desk.js';
import { column, moneyColumn, textColumn, timeColumn } from '../../ui/columns.js';
import { accountColumn, transactionColumn } from '../columns.js';

const route = getRouteApi('/finance/adjustments');

/** Debts that were given up. */
export function WriteOffs() {
  const { t } = useTranslation('desk');
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const writeOffs = $api.useQuery(
    'get',
    '/api/finance/write-offs',
    { params: { query: { cursor } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <DataList
      label={t('tabs.writeOffs')}
      query={writeOffs}
      columns={useColumns()}
      rowKey={({ id }) => id}
      empty={{
        title: t('writeOffs.empty'),
        hint: t('writeOffs.emptyHint'),
        action: (
          <ButtonLink to="/finance/adjustments" search={{ tab: 'debts' }} variant="default">
            {t('tabs.debts')}
          </ButtonLink>
        ),
      }}
      pager={{ cursor, go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }) }}
    />
  );
}

function useColumns(): Column<WriteOff>[] {
  const { t } = useTranslation('desk');
  return [
    timeColumn('recordedAt', t('at')),
    accountColumn('accountId', t('account')),
    textColumn('period', t('writeOffs.month')),
    moneyColumn('amount', t('amount')),
    column('note', t('note'), ({ note }) => <Text size="sm">{note}</Text>),
    column('people', t('people'), ({ requestedBy, approvedBy }) => (
      <Stack gap={0}>
        <Who actor={requestedBy} />
        {approvedBy !== null && <Who actor={approvedBy} />}
      </Stack>
    )),
    transactionColumn('transactionId', t('transaction')),
    column('do', t('do'), (writeOff) => <Reversal writeOff={writeOff} />),
  ];
}

function Reversal({ writeOff: { id, reversesId, reversedById } }: { writeOff: WriteOff }) {
  const { t } = useTranslation('desk');
  const check = useNoteCheck();
  if (reversesId !== null) return <StatusBadge tone="quiet">{t('writeOffs.reversal')}</StatusBadge>;
  if (reversedById !== null) return <StatusBadge tone="quiet">{t('writeOffs.reversed')}</StatusBadge>;
  return (
    <ModalForm
      label={t('reverseWriteOff.do')}
      title={t('reverseWriteOff.title')}
      hint={t('reverseWriteOff.hint')}
      button={{ size: 'xs' }}
      isDangerous
      initial={{ note: '' }}
      validate={check}
      fields={(form) => <NoteField form={form} />}
      send={async ({ note }, requestId) => {
        const params = { path: { writeOffId: id } };
        const path = '/api/finance/write-offs/{writeOffId}/reverse';
        return (await api.POST(path, { params, body: { note, requestId } })).data!;
      }}
      done={async ({ state }) => {
        await refreshDesk();
        tell(t(`outcomes.${state}`));
      }}
    />
  );
}
