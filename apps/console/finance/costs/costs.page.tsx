import { useTranslation } from 'react-i18next';
import { PageFrame } from '../../ui/page.js';
import { PartTabs } from '../../ui/lists/part-tabs.js';
import { Bills } from './bills.js';
import { CostVersions } from './cost-versions.js';

/** What upstreams take for their work, and what they billed. */
export function CostsPage() {
  const { t } = useTranslation('costs');
  return (
    <PageFrame title={t('title')} about={t('about')}>
      <PartTabs
        label={t('tabs.label')}
        parts={[
          { name: 'versions', label: t('tabs.versions'), content: () => <CostVersions /> },
          { name: 'bills', label: t('tabs.bills'), content: () => <Bills /> },
        ]}
      />
    </PageFrame>
  );
}
