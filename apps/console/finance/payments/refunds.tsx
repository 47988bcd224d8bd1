import { Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { tell } from '../../shell/notices.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { Money } from '../../ui/money.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/when.js';
import { Choice } from '../choice.js';
import { ModalForm, NoteField, useNoteCheck } from '../modal-form.js';
import { AccountLink } from '../transaction-links.js';
import { type Refund, refreshPayments } from './payments.js';

const route = getRouteApi('/finance/payments');
const states = ['pending', 'succeeded', 'failed'] as const;
const tones = { pending: 'waiting', succeeded: 'good', failed: 'bad' } as const;

/** Refunds of top-ups, and which of them the provider has not ended yet. */
export function Refunds() {
  const { t } = useTranslation('payments');
  const { cursor, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const state = states.find((each) => each === search.state);
  const refunds = $api.useQuery(
    'get',
    '/api/finance/topup-refunds',
    { params: { query: { ...(state ? { state } : {}), cursor } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Stack>
      <Group>
        <Choice
          label={t('columns.state')}
          options={states.map((value) => ({ value, label: t(`refunds.states.${value}`) }))}
          value={state}
          set={(value) =>
            void navigate({ search: { tab: 'refunds', ...(value ? { state: value } : {}) }, replace: true })
          }
        />
      </Group>
      <DataList
        label={t('tabs.refunds')}
        query={refunds}
        columns={useColumns()}
        rowKey={({ id }) => id}
        empty={{ title: t('refunds.empty'), hint: t('refunds.emptyHint') }}
        pager={{ cursor, go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }) }}
      />
    </Stack>
  );
}

function useColumns(): Column<Refund>[] {
  const { t } = useTranslation('payments');
  return [
    { id: 'at', header: t('columns.at'), cell: ({ createdAt }) => <When at={createdAt} /> },
    {
      id: 'account',
      header: t('columns.account'),
      cell: ({ accountId }) => <AccountLink id={accountId} />,
    },
    {
      id: 'pay',
      header: t('columns.paid'),
      align: 'right',
      cell: ({ pay, currency }) => <Money value={pay} currency={currency} />,
    },
    {
      id: 'credits',
      header: t('columns.credits'),
      align: 'right',
      cell: ({ credits }) => <Money value={credits} />,
    },
    { id: 'provider', header: t('columns.provider'), cell: ({ provider }) => t(`providers.${provider}`) },
    {
      id: 'state',
      header: t('columns.state'),
      cell: ({ state, failure, reason }) => (
        <Stack gap={2} align="flex-start">
          <StatusBadge tone={tones[state]}>{t(`refunds.states.${state}`)}</StatusBadge>
          <Text size="xs">{failure ?? reason}</Text>
        </Stack>
      ),
    },
    {
      id: 'do',
      header: t('columns.do'),
      cell: (refund) =>
        refund.state === 'pending' && refund.provider === 'manual' ? <Confirm refund={refund} /> : '–',
    },
  ];
}

/** Nobody but people can tell how a bank transfer ended. */
function Confirm({ refund: { id } }: { refund: Refund }) {
  const { t } = useTranslation('payments');
  const check = useNoteCheck();
  const initial = { outcome: 'succeeded' as 'succeeded' | 'failed', reference: '', note: '' };
  return (
    <ModalForm
      label={t('confirmRefund.do')}
      title={t('confirmRefund.title')}
      hint={t('confirmRefund.hint')}
      button={{ size: 'xs' }}
      initial={initial}
      validate={check}
      fields={(form) => (
        <>
          <Select
            label={t('confirmRefund.outcome')}
            data={(['succeeded', 'failed'] as const).map((value) => ({
              value,
              label: t(`refunds.states.${value}`),
            }))}
            allowDeselect={false}
            {...form.getInputProps('outcome')}
          />
          <TextInput
            label={t('confirmRefund.reference')}
            autoComplete="off"
            {...form.getInputProps('reference')}
          />
          <NoteField form={form} />
        </>
      )}
      send={({ outcome, reference, note }) =>
        api.POST('/api/finance/topup-refunds/{refundId}/confirm', {
          params: { path: { refundId: id } },
          body: { outcome, note, ...(reference.trim() === '' ? {} : { reference: reference.trim() }) },
        })
      }
      done={async () => {
        await refreshPayments();
        tell(t('confirmRefund.done'));
      }}
    />
  );
}
