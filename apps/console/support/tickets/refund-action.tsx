import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { isDecimal } from '../../ui/decimal.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { MOST_REASON_CHARS } from '../../ui/forms/reason-action.js';
import { creditsField, textField } from '../../ui/forms/text-fields.js';
import { Money } from '../../ui/money.js';
import { ID } from '../../ui/patterns.js';
import { Loaded } from '../../ui/states.js';

function useRefundFields(chargeId: string | null) {
  const { t } = useTranslation('support');
  return {
    chargeId: textField(t('refund.chargeId'), {
      initial: chargeId ?? '',
      rule: [ID, t('refund.chargeInvalid')],
      below: (id) => ID.test(id.trim()) && <Refundable chargeId={id.trim()} />,
    }),
    amount: creditsField(t('refund.amount'), {
      rule: [(entered) => isDecimal(entered) && /[1-9]/.test(entered), t('refund.amountInvalid')],
    }),
    reason: textField(t('refund.reason'), {
      hint: t('actions.reasonHint'),
      missing: t('actions.reasonMissing'),
      maxLength: MOST_REASON_CHARS,
    }),
  };
}

/** Refunds a part of a charge because of a ticket. */
export function RefundAction({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  return (
    <ModalForm
      texts={t('refund.open')}
      fields={useRefundFields(ticket.chargeId)}
      send={async (values, requestId) => {
        const params = { path: { ticketId: ticket.id } };
        const body = { ...values, requestId };
        return (await api.POST('/api/support/tickets/{ticketId}/refunds', { params, body })).data!;
      }}
      reread={reread}
      success={({ state }) => t(`refund.states.${state}`)}
    />
  );
}

function reread(): Promise<void> {
  return refresh(
    '/api/support/tickets/{ticketId}',
    '/api/support/tickets',
    '/api/support/charges/{chargeId}',
    '/api/support/charges/{chargeId}/refunds',
    '/api/approvals',
  );
}

/** How much of a charge can still be refunded. */
function Refundable({ chargeId }: { chargeId: string }) {
  const { t } = useTranslation('support');
  const refunds = useRead('/api/support/charges/{chargeId}/refunds', { path: { chargeId } });
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
