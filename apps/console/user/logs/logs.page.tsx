import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { useNow } from '../../ui/time/now.js';
import { PageFrame } from '../../ui/page.js';
import { SHORTEST_ID } from '../../ui/patterns.js';
import { ChargePanel } from '../usage/charge-details.js';
import { LogFilters } from './log-filters.js';
import { LogRequests } from './log-requests.js';
import { logQuery } from './log-search.js';

const MINUTE_MS = 60_000;

export default function LogsPage() {
  const { t } = useTranslation('calls');
  return (
    <PageFrame title={t('log.title')} about={t('log.about')} actions={<AsFile />}>
      <LogFilters />
      <LogRequests />
      <ChargePanel />
    </PageFrame>
  );
}

function AsFile() {
  const search = useSearch({ from: '/user/logs' });
  const query = logQuery(search, useNow(MINUTE_MS));
  // A file would have all requests, not those that were found.
  return (search.id ?? '').length < SHORTEST_ID && <CsvLink path="/api/usage.csv" query={query} />;
}
