import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../ui/links.js';
import { PartPage } from '../../ui/lists/part-tabs.js';
import { CreateAdjustment } from './create-adjustment.js';
import { Debts } from './debts.js';
import { Register } from './register.js';
import { WriteOffs } from './write-offs.js';

/** Adjustments by hand and write-offs. Each needs a ticket, large ones two people, and none is ever edited. */
export function AdjustmentsPage() {
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
      title={t('title')}
      about={t('about')}
      actions={actions}
      label={t('tabs.label')}
      parts={[
        { name: 'register', label: t('tabs.register'), content: () => <Register /> },
        { name: 'write-offs', label: t('tabs.writeOffs'), content: () => <WriteOffs /> },
        { name: 'debts', label: t('tabs.debts'), content: () => <Debts /> },
      ]}
    />
  );
}
