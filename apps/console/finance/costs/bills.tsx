import { Group, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { useList } from '../../api/lists.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { column, moneyColumn, textColumn } from '../../ui/lists/columns.js';
import { type ListColumn, DataList, rowsOf } from '../../ui/lists/data-list.js';
import { DayField } from '../../ui/forms/day-field.js';
import { AmountField, TextField } from '../../ui/forms/fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { Section } from '../../ui/states.js';
import { Day } from '../../ui/when.js';
import { COSTS } from '../../ui/decimal.js';
import { transactionColumn } from '../columns.js';
import { addDays, today } from '../utc-days.js';

/** What upstreams billed against the accrued costs, channel by channel and bill by bill. */
export function Bills() {
  const { t } = useTranslation('costs');
  const report = $api.useQuery('get', '/api/finance/reports/upstream-bills');
  const bills = useList('/api/finance/upstream-bills');
  return (
    <Stack gap="xl">
      <Section title={t('bills.channels')}>
        <DataList
          label={t('bills.channels')}
          query={rowsOf(report, (data) => data.channels)}
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
          isPaged
        />
      </Section>
    </Stack>
  );
}

function useChannelColumns(): ListColumn<Shape<'ChannelBills'>>[] {
  const { t } = useTranslation('costs');
  const amounts = ['accrued', 'covered', 'open', 'billed'] as const;
  return [
    textColumn('channel', t('columns.channel')),
    ...amounts.map((name) => moneyColumn(name, t(`bills.${name}`), { currency: COSTS })),
    moneyColumn('difference', t('bills.difference'), { signed: true, currency: COSTS }),
    column('billedTo', t('bills.billedTo'), ({ billedTo }) =>
      billedTo === null ? '–' : <Day on={addDays(billedTo, -1)} />,
    ),
  ];
}

function useBillColumns(): ListColumn<Shape<'VendorBill'>>[] {
  const { t } = useTranslation('costs');
  return [
    textColumn('channel', t('columns.channel')),
    textColumn('number', t('bills.number')),
    column('days', t('bills.days'), ({ from, to }) => (
      <>
        <Day on={from} /> – <Day on={addDays(to, -1)} />
      </>
    )),
    moneyColumn('amount', t('bills.amount'), { currency: COSTS }),
    moneyColumn('accrued', t('bills.accrued'), { currency: COSTS }),
    moneyColumn('difference', t('bills.difference'), { signed: true, currency: COSTS }),
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
            to: addDays(to ?? ''),
          },
        })
      }
      reread={() => refresh('/api/finance/upstream-bills', '/api/finance/reports/upstream-bills')}
      told={() => t('record.done')}
    />
  );
}

function Fields({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('costs');
  return (
    <>
      <TextField form={form} name="channel" label={t('columns.channel')} required />
      <TextField form={form} name="number" label={t('bills.number')} required />
      <Group grow align="flex-start">
        <DayField label={t('record.first')} required maxDate={today()} {...form.getInputProps('from')} />
        <DayField
          label={t('record.last')}
          required
          maxDate={addDays(today(), -1)}
          {...form.getInputProps('to')}
        />
      </Group>
      <AmountField
        form={form}
        name="amount"
        label={t('bills.amount')}
        description={t('record.amountHint')}
        required
      />
    </>
  );
}
