import { Select } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { CreditsField, TextField } from '../../ui/forms/fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { NoteField, useNoteCheck } from '../note.js';
import { ID, SIGNED_CREDITS } from '../../ui/patterns.js';
import { refreshDesk } from './desk.js';
import { reasonsToAdjust } from '../../api/enumerations.js';

const initial = {
  accountId: '',
  ticketId: '',
  amount: '',
  note: '',
  reason: 'goodwill' as (typeof reasonsToAdjust)[number],
};

/** Credit that is given or taken by hand because of a ticket. */
export function CreateAdjustment() {
  const { t } = useTranslation('desk');
  const check = useNoteCheck();
  return (
    <ModalForm
      label={t('adjust.do')}
      title={t('adjust.title')}
      hint={t('adjust.hint')}
      button={{ variant: 'filled' }}
      initial={initial}
      validate={(values) => ({
        ...check(values),
        ...(ID.test(values.accountId.trim()) ? {} : { accountId: t('idWrong') }),
        ...(ID.test(values.ticketId.trim()) ? {} : { ticketId: t('idWrong') }),
        ...(SIGNED_CREDITS.test(values.amount.trim()) ? {} : { amount: t('adjust.amountWrong') }),
      })}
      fields={(form) => <Fields form={form} />}
      send={async ({ accountId, ticketId, amount, reason, note }, requestId) => {
        const ids = { accountId: accountId.trim(), ticketId: ticketId.trim() };
        const body = { ...ids, amount: amount.trim(), reason, note, requestId };
        return (await api.POST('/api/finance/adjustments', { body })).data!;
      }}
      reread={refreshDesk}
      told={({ state }) => t(`outcomes.${state}`)}
    />
  );
}

function Fields({ form }: { form: UseFormReturnType<typeof initial> }) {
  const { t } = useTranslation('desk');
  return (
    <>
      <TextField form={form} name="accountId" label={t('account')} required />
      <TextField
        form={form}
        name="ticketId"
        label={t('ticket')}
        description={t('adjust.ticketHint')}
        required
      />
      <CreditsField
        form={form}
        name="amount"
        label={t('adjust.amount')}
        description={t('adjust.amountHint')}
        required
      />
      <Select
        label={t('reason')}
        data={reasonsToAdjust.map((value) => ({ value, label: t(`reasons.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('reason')}
      />
      <NoteField form={form} />
    </>
  );
}
