import { useTranslation } from 'react-i18next';
import { OpenPanel } from '../../ui/forms/dialog.js';
import { PageFrame } from '../../ui/page.js';
import { ChargeDetails } from './charge-details.js';
import { UsageFilters } from './usage-filters.js';
import { UsageOverview } from './usage-overview.js';
import { UsageRequests } from './usage-requests.js';

/** What was spent on what, and every request behind it. All that is chosen is in the address. */
export function UsagePage() {
  const { t } = useTranslation('calls');
  return (
    <PageFrame title={t('usage.title')} about={t('usage.about')}>
      <UsageFilters />
      <UsageOverview />
      <UsageRequests />
      <OpenPanel param="charge" size="xl" title={t('charge.title')}>
        {(id) => <ChargeDetails id={id} />}
      </OpenPanel>
    </PageFrame>
  );
}
