import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { newRequestId, refresh } from '../../api/queries.js';
import { tell } from '../../shell/notices.js';
import { isDecimal } from '../../ui/decimal.js';
import { FormFault, useSend } from '../../ui/form.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import type { StaffTicket } from './ticket.js';

const ID = /^[0-9a-z]{26}$/;

/** Gives back some of what a charge settled, because of a ticket. */
export function RefundAction({ ticket }: { ticket: StaffTicket }) {
  const { t } = useTranslation('support');
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" onClick={open}>
        {t('refund.open')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('refund.title')}
        closeButtonProps={{ 'aria-label': t('close', { ns: 'shell' }) }}
      >
        <RefundForm ticket={ticket} close={close} />
      </Modal>
    </>
  );
}

function RefundForm({ ticket, close }: { ticket: StaffTicket; close: () => void }) {
  const { t } = useTranslation('support');
  const [requestId] = useState(newRequestId);
  const form = useForm({
    initialValues: { chargeId: ticket.chargeId ?? '', amount: '', reason: '' },
    validate: {
      chargeId: (value) => (ID.test(value.trim()) ? null : t('refund.chargeInvalid')),
      amount: (value) => (isDecimal(value.trim()) && /[1-9]/.test(value) ? null : t('refund.amountInvalid')),
      reason: (value) => (value.trim() ? null : t('actions.reasonMissing')),
    },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async ({ chargeId, amount, reason }) => {
      const params = { path: { ticketId: ticket.id } };
      const body = { requestId, chargeId: chargeId.trim(), amount: amount.trim(), reason: reason.trim() };
      return (await api.POST('/api/support/tickets/{ticketId}/refunds', { params, body })).data!;
    },
    done: async ({ state }) => {
      tell(t(`refund.states.${state}`));
      close();
      await refresh(
        '/api/support/tickets/{ticketId}',
        '/api/support/tickets',
        '/api/support/charges/{chargeId}',
        '/api/support/charges/{chargeId}/refunds',
        '/api/approvals',
      );
    },
  });
  const chargeId = form.values.chargeId.trim();
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <TextInput label={t('refund.chargeId')} required {...form.getInputProps('chargeId')} />
      {ID.test(chargeId) && <Refundable chargeId={chargeId} />}
      <TextInput
        label={t('refund.amount')}
        inputMode="decimal"
        autoComplete="off"
        required
        rightSection={<Text size="sm">USD</Text>}
        rightSectionWidth="3.5rem"
        {...form.getInputProps('amount')}
      />
      <TextInput
        label={t('refund.reason')}
        description={t('actions.reasonHint')}
        required
        maxLength={500}
        {...form.getInputProps('reason')}
      />
      <Text size="sm" c="dimmed">
        {t('refund.limit')}
      </Text>
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending} w="fit-content">
        {t('refund.submit')}
      </Button>
    </form>
  );
}

/** How much of a charge can still be given back. */
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
