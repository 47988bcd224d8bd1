import { useTranslation } from 'react-i18next';
import { Disputes } from './disputes.js';
import { Events } from './events.js';
import { Refunds } from './refunds.js';
import { SuspenseList } from './suspense.js';
import { TopUps } from './topups.js';
import { PartPage } from '../../ui/lists/part-tabs.js';
import { api, refreshFinance } from '../../api/client.js';
import { dayField } from '../../ui/forms/day-field.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { amountField, textField } from '../../ui/forms/text-fields.js';
import { PAYMENT } from '../../ui/patterns.js';
import { accountField } from '../account-field.js';
import { useNote } from '../note.js';
import { today } from '../utc-days.js';

/** Top-ups, money without an order, refunds and disputes. */
export default function PaymentsPage() {
  const { t } = useTranslation('payments');
  return (
    <PartPage
      texts={t('page')}
      actions={<RecordTransfer />}
      parts={{
        topups: <TopUps />,
        suspense: <SuspenseList />,
        refunds: <Refunds />,
        disputes: <Disputes />,
        events: <Events />,
      }}
    />
  );
}

const REFERENCE = /^[\x21-\x7e]{1,200}$/;

function useFields() {
  const { t } = useTranslation('payments');
  return {
    accountId: accountField(t('columns.account')),
    orderId: textField(t('transfer.order'), { hint: t('transfer.orderHint') }),
    paymentId: textField(t('transfer.reference'), { rule: [REFERENCE, t('transfer.referenceWrong')] }),
    paid: amountField(t('columns.paid'), { rule: [PAYMENT, t('paymentWrong')], isHalf: true }),
    currency: textField(t('transfer.currency'), {
      initial: 'USD',
      rule: [/^[A-Z]{3}$/, t('currencyWrong')],
      maxLength: 3,
      isHalf: true,
    }),
    valueDate: dayField(t('transfer.valueDate'), {
      hint: t('transfer.valueDateHint'),
      clearable: true,
      maxDate: today(),
    }),
    note: useNote(),
  };
}

/** Turns a bank transfer into credits, once per reference. */
function RecordTransfer() {
  const { t } = useTranslation('payments');
  return (
    <ModalForm
      texts={t('transfer')}
      fields={useFields()}
      faults={({ accountId, orderId }) => ({
        accountId: (accountId === null) === (orderId.trim() === '') && t('transfer.eitherOr'),
      })}
      send={async ({ accountId, orderId, valueDate, note, ...transfer }, requestId) => {
        const to = accountId === '' ? { orderId } : { accountId };
        const when = valueDate === null ? {} : { valueDate };
        const body = { ...transfer, ...to, ...when, reason: note, requestId };
        return (await api.POST('/api/finance/topups', { body })).data!;
      }}
      reread={refreshFinance}
      success={({ approvalId }) => (approvalId === null ? t('transfer.done') : t('waitsForSecond'))}
    />
  );
}
