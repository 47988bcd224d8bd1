import { Box, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Notice } from '../ui/notice.js';
import { mayAny, STAFF, useSession } from './session.js';

/** Whether this installation declares that it has no second person. */
export function useOnePerson(): boolean {
  const session = useSession();
  const asked = useQuery({
    queryKey: ['one-person', session?.userId],
    queryFn: async () => (await api.GET('/api/public/session')).data?.onePerson ?? false,
    enabled: mayAny(session, STAFF),
    // It only changes when the server restarts.
    staleTime: Infinity,
  });
  return asked.data ?? false;
}

/** Reminds staff on every page, so that nobody takes one signature for two. */
export function OnePersonBanner() {
  const { t } = useTranslation('shell');
  if (!useOnePerson()) return null;
  return (
    <Box mb="lg">
      <Notice tone="warning" title={t('onePerson.title')}>
        <Text size="sm">{t('onePerson.text')}</Text>
      </Notice>
    </Box>
  );
}
