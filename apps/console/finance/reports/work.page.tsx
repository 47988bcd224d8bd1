import { useTranslation } from 'react-i18next';
import { Charges } from './charges.js';
import { Failures } from './failures.js';
import { Holds } from './holds.js';
import { Promotion } from './promotion.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** Open holds, refunds of failures, and the cost of rewards. */
export default function WorkPage() {
  const { t } = useTranslation('reports');
  return (
    <PartPage
      texts={t('work')}
      parts={{ holds: <Holds />, charges: <Charges />, failures: <Failures />, promotion: <Promotion /> }}
    />
  );
}
