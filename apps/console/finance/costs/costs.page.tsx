import { useTranslation } from 'react-i18next';
import { Bills } from './bills.js';
import { CostVersions } from './cost-versions.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** What upstreams charge us, and what they billed. */
export function CostsPage() {
  const { t } = useTranslation('costs');
  return (
    <PartPage
      title={t('title')}
      about={t('about')}
      label={t('tabs.label')}
      parts={[
        { name: 'versions', label: t('tabs.versions'), content: () => <CostVersions /> },
        { name: 'bills', label: t('tabs.bills'), content: () => <Bills /> },
      ]}
    />
  );
}
