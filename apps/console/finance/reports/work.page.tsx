import { useTranslation } from 'react-i18next';
import { Charges } from './charges.js';
import { Failures } from './failures.js';
import { Holds } from './holds.js';
import { Promotion } from './promotion.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** Open holds, refunds of failures, and the cost of rewards. */
export function WorkPage() {
  const { t } = useTranslation('reports');
  return (
    <PartPage
      title={t('work.title')}
      about={t('work.about')}
      label={t('work.parts')}
      parts={[
        { name: 'holds', label: t('work.tabs.holds'), content: () => <Holds /> },
        { name: 'charges', label: t('work.tabs.charges'), content: () => <Charges /> },
        { name: 'failures', label: t('work.tabs.failures'), content: () => <Failures /> },
        { name: 'promotion', label: t('work.tabs.promotion'), content: () => <Promotion /> },
      ]}
    />
  );
}
