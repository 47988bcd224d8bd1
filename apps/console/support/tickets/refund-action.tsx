import { Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { isDecimal } from '../../ui/decimal.js';
import { CreditsField, TextField } from '../../ui/forms/fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { Money } from '../../ui/money.js';
import { ID } from '../../ui/patterns.js';
import { Loaded } from '../../ui/states.js';

/** Refunds some of what was charged, because of a ticket. */
export function RefundAction({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  return (
    <ModalForm
      label={t('refund.open')}
      submit={t('refund.submit')}
      title={t('refund.title')}
      hint={t('refund.limit')}
      initial={{ chargeId: ticket.chargeId ?? '', amount: '', reason: '' }}
      validate={({ chargeId, amount, reason }) => ({
        ...(ID.test(chargeId.trim()) ? {} : { chargeId: t('refund.chargeInvalid') }),
        ...(isDecimal(amount.trim()) && /[1-9]/.test(amount) ? {} : { amount: t('refund.amountInvalid') }),
        ...(reason.trim() ? {} : { reason: t('actions.reasonMissing') }),
      })}
      fields={(form) => <Fields form={form} />}
      send={async ({ chargeId, amount, reason }, requestId) => {
        const params = { path: { ticketId: ticket.id } };
        const body = { requestId, chargeId: chargeId.trim(), amount: amount.trim(), reason: reason.trim() };
        return (await api.POST('/api/support/tickets/{ticketId}/refunds', { params, body })).data!;
      }}
      done={async ({ state }) => {
        notify(t(`refund.states.${state}`));
        await refresh(
          '/api/support/tickets/{ticketId}',
          '/api/support/tickets',
          '/api/support/charges/{chargeId}',
          '/api/support/charges/{chargeId}/refunds',
          '/api/approvals',
        );
      }}
    />
  );
}

interface FieldsProps {
  form: UseFormReturnType<{ chargeId: string; amount: string; reason: string }>;
}

function Fields({ form }: FieldsProps) {
  const { t } = useTranslation('support');
  const chargeId = form.values.chargeId.trim();
  return (
    <>
      <TextField form={form} name="chargeId" label={t('refund.chargeId')} required />
      {ID.test(chargeId) && <Refundable chargeId={chargeId} />}
      <CreditsField form={form} name="amount" label={t('refund.amount')} required />
      <TextField
        form={form}
        name="reason"
        label={t('refund.reason')}
        description={t('actions.reasonHint')}
        required
        maxLength={500}
      />
    </>
  );
}

/** How much of a charge can still be refunded. */
function Refundable({ chargeId }: { chargeId: string }) {
  const { t } = useTranslation('support');
  const refunds = $api.useQuery('get', '/api/support/charges/{chargeId}/refunds', {
    params: { path: { chargeId } },
  });
  return (
    <Loaded query={refunds} lines={2}>
      {({ settled, refundable }) => (
        <Stack gap={0}>
          <Text size="sm">
            {t('refund.settled')} <Money value={settled} />
          </Text>
          <Text size="sm">
            {t('refund.refundable')} <Money value={refundable} />
          </Text>
        </Stack>
      )}
    </Loaded>
  );
}
