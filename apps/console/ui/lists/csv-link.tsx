import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { stringifySearch } from '../search.js';

/** All that a filter leaves as a file, not only what a page of the list shows. */
export function CsvLink({ path, query = {} }: { path: string; query?: Record<string, unknown> }) {
  const { t } = useTranslation('shell');
  return (
    <Button
      component="a"
      href={`${path}${stringifySearch(query)}`}
      download
      variant="default"
      size="sm"
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      {t('csv')}
    </Button>
  );
}
