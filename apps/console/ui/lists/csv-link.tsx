import { useTranslation } from 'react-i18next';
import { DownloadButton } from '../links.js';
import { stringifySearch } from '../search.js';

/** All that a filter leaves as a file, not only what a page of the list shows. */
export function CsvLink({ path, query = {} }: { path: string; query?: Record<string, unknown> }) {
  const { t } = useTranslation('shell');
  return <DownloadButton href={`${path}${stringifySearch(query)}`}>{t('csv')}</DownloadButton>;
}
