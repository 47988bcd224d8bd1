import { useTranslation } from 'react-i18next';
import { Bills } from './bills.js';
import { CostVersions } from './cost-versions.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** What upstreams charge us, and what they billed. */
export default function CostsPage() {
  const { t } = useTranslation('costs');
  return <PartPage texts={t('page')} parts={{ versions: <CostVersions />, bills: <Bills /> }} />;
}
