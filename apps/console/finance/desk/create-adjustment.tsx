import { Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { tell } from '../../shell/notices.js';
import { ModalForm, NoteField, useNoteCheck } from '../modal-form.js';
import { ID, SIGNED_CREDITS } from '../patterns.js';
import { reasons, refreshDesk } from './desk.js';

const initial = {
  accountId: '',
  ticketId: '',
  amount: '',
  note: '',
  reason: 'goodwill' as (typeof reasons)[number],
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
      fields={(form) => (
        <>
          <TextInput label={t('account')} required autoComplete="off" {...form.getInputProps('accountId')} />
          <TextInput
            label={t('ticket')}
            description={t('adjust.ticketHint')}
            required
            autoComplete="off"
            {...form.getInputProps('ticketId')}
          />
          <TextInput
            label={t('adjust.amount')}
            description={t('adjust.amountHint')}
            required
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps('amount')}
          />
          <Select
            label={t('reason')}
            data={reasons.map((value) => ({ value, label: t(`reasons.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps('reason')}
          />
          <NoteField form={form} />
        </>
      )}
      send={async ({ accountId, ticketId, amount, reason, note }, requestId) => {
        const ids = { accountId: accountId.trim(), ticketId: ticketId.trim() };
        const body = { ...ids, amount: amount.trim(), reason, note, requestId };
        return (await api.POST('/api/finance/adjustments', { body })).data!;
      }}
      done={async ({ state }) => {
        await refreshDesk();
        tell(t(`outcomes.${state}`));
      }}
    />
  );
}
