import { SegmentedControl, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api, type Shape } from '../../api/client.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { takeTicket } from './ticket.js';

const MOST_CHARS = 10_000;

/** A reply that is also mailed to the customer, or a note for colleagues. */
export function ReplyForm({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const { form, sending } = useReply(ticket.id);
  const { isNote } = form.values;
  return (
    <SendForm sending={sending} submit={isNote ? t('reply.saveNote') : t('reply.send')}>
      <LeaveGuard isDirty={() => form.isDirty('body')} />
      <NoteSwitch isNote={isNote} set={(chosen) => form.setFieldValue('isNote', chosen)} />
      <Textarea
        label={isNote ? t('reply.noteLabel') : t('reply.answerLabel')}
        description={isNote ? t('reply.noteHint') : t('reply.answerHint')}
        autosize
        minRows={3}
        maxRows={20}
        maxLength={MOST_CHARS}
        {...form.getInputProps('body')}
      />
    </SendForm>
  );
}

function useReply(ticketId: string) {
  const { t } = useTranslation('support');
  const form = useForm({
    initialValues: { body: '', isNote: false },
    validate: { body: (value) => (value.trim() ? null : t('reply.missing')) },
  });
  const sending = useSend({
    form,
    send: async (body) => {
      const params = { path: { ticketId } };
      return (await api.POST('/api/support/tickets/{ticketId}/messages', { params, body })).data!;
    },
    done: async (changed) => {
      form.reset();
      await takeTicket(changed);
    },
  });
  return { form, sending };
}

function NoteSwitch({ isNote, set }: { isNote: boolean; set: (isNote: boolean) => void }) {
  const { t } = useTranslation('support');
  return (
    <SegmentedControl
      w="fit-content"
      aria-label={t('reply.what')}
      value={isNote ? 'note' : 'answer'}
      onChange={(chosen) => set(chosen === 'note')}
      data={[
        { value: 'answer', label: t('reply.answer') },
        { value: 'note', label: t('reply.note') },
      ]}
    />
  );
}
