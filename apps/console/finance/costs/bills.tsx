import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useList, useRead } from '../../api/client.js';
import { column, menuColumn, moneyColumn, textColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { dayField } from '../../ui/forms/day-field.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { amountField, textField } from '../../ui/forms/text-fields.js';
import { Section } from '../../ui/page.js';
import { Day } from '../../ui/time/when.js';
import { COSTS } from '../../ui/decimal.js';
import { transactionColumn } from '../columns.js';
import { addDays, today } from '../utc-days.js';

/** Upstream bills compared with accrued costs, by channel and by bill. */
export function Bills() {
  const { t } = useTranslation('costs');
  const bills = useList('/api/finance/upstream-bills');
  return (
    <Stack gap="xl">
      <Channels />
      <Section title={t('page.tabs.bills')} aside={<RecordBill />}>
        <DataList query={bills} columns={useBillColumns()} empty={t('bills.empty')} />
      </Section>
    </Stack>
  );
}

function Channels() {
  const { t } = useTranslation('costs');
  const report = useRead('/api/finance/reports/upstream-bills');
  return (
    <Section title={t('bills.channels')}>
      <DataList
        query={rowsOf(report, (data) => data.channels)}
        columns={useChannelColumns()}
        rowKey="channel"
        empty={t('bills.noCosts')}
      />
    </Section>
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
    menuColumn(({ id }) => [{ copy: id }]),
  ];
}

const AMOUNT = /^-?\d{1,9}(\.\d{1,9})?$/;

function useBillFields() {
  const { t } = useTranslation('costs');
  const missing = t('set.missing');
  const maxDate = addDays(today(), -1);
  return {
    channel: textField(t('columns.channel'), { missing }),
    number: textField(t('bills.number'), { missing }),
    from: dayField(t('record.first'), { missing, maxDate: today(), isHalf: true }),
    to: dayField(t('record.last'), { missing: t('record.lastWrong'), maxDate, isHalf: true }),
    amount: amountField(t('bills.amount'), {
      hint: t('record.amountHint'),
      rule: [AMOUNT, t('set.amountWrong')],
    }),
  };
}

function RecordBill() {
  const { t } = useTranslation('costs');
  return (
    <ModalForm
      texts={t('record')}
      button={{ size: 'xs' }}
      fields={useBillFields()}
      faults={({ from, to }) => ({ to: from !== null && to !== null && to < from && t('record.lastWrong') })}
      send={({ to, from, ...bill }, requestId) =>
        api.POST('/api/finance/upstream-bills', {
          body: { ...bill, from: from ?? '', to: addDays(to ?? ''), requestId },
        })
      }
      reread={() => refresh('/api/finance/upstream-bills', '/api/finance/reports/upstream-bills')}
      success={() => t('record.done')}
    />
  );
}
