import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { logOf } from '../logs/log-search.js';
import { UsageFilters } from './usage-filters.js';
import { UsageOverview } from './usage-overview.js';

export function UsagePage() {
  const { t } = useTranslation('calls');
  return (
    <PageFrame title={t('usage.title')} about={t('usage.about')} actions={<ToRequests />}>
      <UsageFilters />
      <UsageOverview />
    </PageFrame>
  );
}

function ToRequests() {
  const { t } = useTranslation('calls');
  const search = useSearch({ from: '/user/usage' });
  return (
    <ButtonLink to="/logs" search={logOf(search)} variant="default">
      {t('usage.toRequests')}
    </ButtonLink>
  );
}
