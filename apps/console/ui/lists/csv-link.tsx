import { useTranslation } from 'react-i18next';
import { DownloadButton } from '../links.js';
import { stringifySearch } from '../search.js';

/** Downloads all rows that match a filter, not only the current page. */
export function CsvLink({ path, query = {} }: { path: string; query?: Record<string, unknown> }) {
  const { t } = useTranslation('shell');
  return <DownloadButton href={`${path}${stringifySearch(query)}`}>{t('csv')}</DownloadButton>;
}
