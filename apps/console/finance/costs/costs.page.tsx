import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.js';
import { PartTabs } from '../part-tabs.js';
import { Bills } from './bills.js';
import { CostVersions } from './cost-versions.js';

const route = getRouteApi('/finance/costs');

/** What upstreams take for their work, and what they billed. */
export function CostsPage() {
  const { t } = useTranslation('costs');
  const { tab = 'versions' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={t('title')} about={t('about')}>
      <PartTabs
        label={t('tabs.label')}
        parts={[
          { name: 'versions', label: t('tabs.versions'), content: () => <CostVersions /> },
          { name: 'bills', label: t('tabs.bills'), content: () => <Bills /> },
        ]}
        open={tab}
        choose={(name) => void navigate({ search: name === 'versions' ? {} : { tab: name } })}
      />
    </Page>
  );
}
