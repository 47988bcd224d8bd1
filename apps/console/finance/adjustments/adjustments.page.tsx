import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../ui/links.js';
import { PartPage } from '../../ui/lists/part-tabs.js';
import { Debts } from './debts.js';
import { Register } from './register.js';
import { WriteOffs } from './write-offs.js';
import { api, refreshFinance } from '../../api/client.js';
import { reasonsToAdjust } from '../../api/enumerations.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { creditsField } from '../../ui/forms/text-fields.js';
import { SIGNED_CREDITS } from '../../ui/patterns.js';
import { accountField } from '../account-field.js';
import { useNote } from '../note.js';
import { ticketField } from '../ticket-field.js';

/** Adjustments by hand and write-offs. Each needs a ticket, large ones two people, and none is ever edited. */
export default function AdjustmentsPage() {
  const { t } = useTranslation('adjustments');
  const actions = (
    <>
      <ButtonLink to="/approvals" variant="default">
        {t('toApprovals')}
      </ButtonLink>
      <CreateAdjustment />
    </>
  );
  return (
    <PartPage
      texts={t('page')}
      actions={actions}
      parts={{ register: <Register />, 'write-offs': <WriteOffs />, debts: <Debts /> }}
    />
  );
}

/** Adds or removes credits by hand because of a ticket. */
function CreateAdjustment() {
  const { t } = useTranslation('adjustments');
  const rule = [SIGNED_CREDITS, t('adjust.amountWrong')] as const;
  return (
    <ModalForm
      texts={t('adjust')}
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
