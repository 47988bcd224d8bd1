import { SimpleGrid } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { DayField } from '../../ui/forms/day-field.js';
import { AmountField, TextField } from '../../ui/forms/fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { NoteField } from '../note.js';
import { ID, PAYMENT } from '../../ui/patterns.js';
import { today } from '../utc-days.js';
import { refreshPayments } from './payments.js';

interface Values extends Record<string, unknown> {
  accountId: string;
  orderId: string;
  paymentId: string;
  paid: string;
  currency: string;
  valueDate: string | null;
  note: string;
}

const empty: Values = {
  accountId: '',
  orderId: '',
  paymentId: '',
  paid: '',
  currency: 'USD',
  valueDate: null,
  note: '',
};

/** A transfer that arrived at the bank becomes balance, once for its reference. */
export function RecordTransfer() {
  const { t } = useTranslation('payments');
  return (
    <ModalForm
      label={t('transfer.do')}
      title={t('transfer.title')}
      hint={t('transfer.hint')}
      initial={empty}
      validate={({ accountId, orderId, paymentId, paid, currency, note }) => ({
        ...((accountId.trim() === '') === (orderId.trim() === '')
          ? { accountId: t('transfer.eitherOr') }
          : {}),
        ...(accountId.trim() !== '' && !ID.test(accountId.trim()) ? { accountId: t('accountWrong') } : {}),
        ...(/^[\x21-\x7e]{1,200}$/.test(paymentId.trim()) ? {} : { paymentId: t('transfer.referenceWrong') }),
        ...(PAYMENT.test(paid.trim()) ? {} : { paid: t('paymentWrong') }),
        ...(/^[A-Z]{3}$/.test(currency) ? {} : { currency: t('currencyWrong') }),
        ...(note.trim().length < 3 ? { note: t('note.missing', { ns: 'finance' }) } : {}),
      })}
      fields={(form) => <Fields form={form} />}
      send={async (values, requestId) => {
        const { accountId, orderId, valueDate, note, paymentId, paid, currency } = values;
        const body = {
          ...(accountId.trim() === '' ? { orderId: orderId.trim() } : { accountId: accountId.trim() }),
          paymentId: paymentId.trim(),
          paid: paid.trim(),
          currency,
          reason: note,
          requestId,
          ...(valueDate === null ? {} : { valueDate }),
        };
        return (await api.POST('/api/finance/topups', { body })).data!;
      }}
      reread={refreshPayments}
      told={({ approvalId }) => (approvalId === null ? t('transfer.done') : t('waitsForSecond'))}
    />
  );
}

function Fields({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('payments');
  return (
    <>
      <TextField form={form} name="accountId" label={t('columns.account')} />
      <TextField
        form={form}
        name="orderId"
        label={t('transfer.order')}
        description={t('transfer.orderHint')}
      />
      <TextField form={form} name="paymentId" label={t('transfer.reference')} required />
      <SimpleGrid cols={2}>
        <AmountField form={form} name="paid" label={t('columns.paid')} required />
        <TextField form={form} name="currency" label={t('transfer.currency')} required maxLength={3} />
      </SimpleGrid>
      <DayField
        label={t('transfer.valueDate')}
        description={t('transfer.valueDateHint')}
        clearable
        maxDate={today()}
        {...form.getInputProps('valueDate')}
      />
      <NoteField form={form} />
    </>
  );
}
