import { Group, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { type Answer, type Item, refresh } from '../../api/queries.js';
import { tell } from '../../shell/notices.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { Section } from '../../ui/states.js';
import { Day } from '../../ui/when.js';
import { DayField } from '../day-field.js';
import { ModalForm } from '../modal-form.js';
import { dayAfter, today } from '../utc-days.js';
import { column, moneyColumn, textColumn } from '../../ui/columns.js';
import { transactionColumn } from '../columns.js';

const route = getRouteApi('/finance/costs');

type Bill = Item<'/api/finance/upstream-bills'>;
type Channel = Answer<'/api/finance/reports/upstream-bills'>['channels'][number];

/** What upstreams billed against the costs that were told, channel by channel and bill by bill. */
export function Bills() {
  const { t } = useTranslation('costs');
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const report = $api.useQuery('get', '/api/finance/reports/upstream-bills');
  const bills = $api.useQuery(
    'get',
    '/api/finance/upstream-bills',
    { params: { query: { cursor } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Stack gap="xl">
      <Section title={t('bills.channels')}>
        <DataList
          label={t('bills.channels')}
          query={{
            data: report.data && { items: report.data.channels },
            error: report.error,
            refetch: report.refetch as never,
            isPlaceholderData: false,
          }}
          columns={useChannelColumns()}
          rowKey={({ channel }) => channel}
          empty={{ title: t('bills.noCosts'), hint: t('bills.noCostsHint') }}
        />
      </Section>
      <Section title={t('tabs.bills')} aside={<RecordBill />}>
        <DataList
          label={t('tabs.bills')}
          query={bills}
          columns={useBillColumns()}
          rowKey={({ id }) => id}
          empty={{ title: t('bills.empty'), hint: t('bills.emptyHint') }}
          pager={{
            cursor,
            go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }),
          }}
        />
      </Section>
    </Stack>
  );
}

function useChannelColumns(): Column<Channel>[] {
  const { t } = useTranslation('costs');
  const amounts = ['accrued', 'covered', 'open', 'billed'] as const;
  return [
    textColumn('channel', t('columns.channel')),
    ...amounts.map((name) => moneyColumn(name, t(`bills.${name}`))),
    moneyColumn('difference', t('bills.difference'), { signed: true }),
    column('billedTo', t('bills.billedTo'), ({ billedTo }) =>
      billedTo === null ? '–' : <Day on={dayAfter(billedTo, -1)} />,
    ),
  ];
}

function useBillColumns(): Column<Bill>[] {
  const { t } = useTranslation('costs');
  return [
    textColumn('channel', t('columns.channel')),
    textColumn('number', t('bills.number')),
    column('days', t('bills.days'), ({ from, to }) => (
      <>
        <Day on={from} /> – <Day on={dayAfter(to, -1)} />
      </>
    )),
    moneyColumn('amount', t('bills.amount')),
    moneyColumn('accrued', t('bills.accrued')),
    moneyColumn('difference', t('bills.difference'), { signed: true }),
    transactionColumn('transactionId', t('transaction')),
  ];
}

interface Values extends Record<string, unknown> {
  channel: string;
  number: string;
  from: string | null;
  to: string | null;
  amount: string;
}

const AMOUNT = /^-?\d{1,9}(\.\d{1,9})?$/;
const initial: Values = { channel: '', number: '', from: null, to: null, amount: '' };

function RecordBill() {
  const { t } = useTranslation('costs');
  return (
    <ModalForm
      label={t('record.do')}
      title={t('record.title')}
      hint={t('record.hint')}
      button={{ size: 'xs' }}
      initial={initial}
      validate={({ channel, number, from, to, amount }) => ({
        ...(channel.trim() === '' ? { channel: t('set.missing') } : {}),
        ...(number.trim() === '' ? { number: t('set.missing') } : {}),
        ...(from === null ? { from: t('set.missing') } : {}),
        ...(to === null || (from !== null && to < from) ? { to: t('record.lastWrong') } : {}),
        ...(AMOUNT.test(amount.trim()) ? {} : { amount: t('set.amountWrong') }),
      })}
      fields={(form) => <Fields form={form} />}
      send={({ channel, number, from, to, amount }, requestId) =>
        api.POST('/api/finance/upstream-bills', {
          body: {
            channel: channel.trim(),
            number: number.trim(),
            amount: amount.trim(),
            requestId,
            from: from ?? '',
            to: dayAfter(to ?? ''),
          },
        })
      }
      done={async () => {
        await refresh('/api/finance/upstream-bills', '/api/finance/reports/upstream-bills');
        tell(t('record.done'));
      }}
    />
  );
}

function Fields({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('costs');
  return (
    <>
      <TextInput
        label={t('columns.channel')}
        required
        autoComplete="off"
        {...form.getInputProps('channel')}
      />
      <TextInput label={t('bills.number')} required autoComplete="off" {...form.getInputProps('number')} />
      <Group grow align="flex-start">
        <DayField label={t('record.first')} required maxDate={today()} {...form.getInputProps('from')} />
        <DayField
          label={t('record.last')}
          required
          maxDate={dayAfter(today(), -1)}
          {...form.getInputProps('to')}
        />
      </Group>
      <TextInput
        label={t('bills.amount')}
        description={t('record.amountHint')}
        required
        inputMode="decimal"
        {...form.getInputProps('amount')}
      />
    </>
  );
}
