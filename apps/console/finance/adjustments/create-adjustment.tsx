import { useTranslation } from 'react-i18next';
import { api, refreshFinance } from '../../api/client.js';
import { reasonsToAdjust } from '../../api/enumerations.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { creditsField } from '../../ui/forms/text-fields.js';
import { SIGNED_CREDITS } from '../../ui/patterns.js';
import { accountField } from '../account-field.js';
import { useNote } from '../note.js';
import { ticketField } from '../ticket-field.js';

/** Adds or removes credits by hand because of a ticket. */
export function CreateAdjustment() {
  const { t } = useTranslation('adjustments');
  const rule = [SIGNED_CREDITS, t('adjust.amountWrong')] as const;
  return (
    <ModalForm
      label={t('adjust.do')}
      title={t('adjust.title')}
      hint={t('adjust.hint')}
      button={{ variant: 'filled' }}
      fields={{
        accountId: accountField(t('account'), { missing: t('accountMissing') }),
        ticketId: ticketField(t('ticket'), { hint: t('adjust.ticketHint'), missing: t('ticketMissing') }),
        amount: creditsField(t('adjust.amount'), { hint: t('adjust.amountHint'), rule }),
        reason: choiceField(t('reason'), { of: reasonsToAdjust, name: (reason) => t(`reasons.${reason}`) }),
        note: useNote(),
      }}
      send={async (values, requestId) => {
        const body = { ...values, requestId };
        return (await api.POST('/api/finance/adjustments', { body })).data!;
      }}
      reread={refreshFinance}
      success={({ state }) => t(`outcomes.${state}`)}
    />
  );
}
