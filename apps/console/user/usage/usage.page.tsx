import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { logOf } from '../logs/log-search.js';
import { UsageFilters } from './usage-filters.js';
import { UsageOverview } from './usage-overview.js';

const route = getRouteApi('/user/usage');

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
  const search = route.useSearch();
  return (
    <ButtonLink to="/logs" search={logOf(search)} variant="default">
      {t('usage.toRequests')}
    </ButtonLink>
  );
}
