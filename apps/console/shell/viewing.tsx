import { Box, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Notice } from '../ui/notice.js';
import { When } from '../ui/when.js';
import { tellFailure } from './notices.js';
import { endView, lookAgain, type Session } from './session.js';

type Viewing = NonNullable<Session['viewing']>;

/** Above every page while somebody of support sees it as a customer does: whose account it is, and the way back. */
export function ViewingBanner({ viewing }: { viewing: Viewing }) {
  const { t } = useTranslation('shell');
  const { accountId, name, until } = viewing;
  const navigate = useNavigate();
  useEnd(until);
  const ending = useMutation({
    mutationFn: async () => {
      await endView();
      await navigate({ to: '/support/accounts/$accountId', params: { accountId } });
    },
    onError: tellFailure,
  });
  return (
    <Box mb="lg">
      <Notice tone="warning" title={t('viewing.title', { name })}>
        <Group justify="space-between">
          <Text size="sm">
            {t('viewing.until')} <When at={until} />
          </Text>
          <Button size="xs" onClick={() => ending.mutate()} loading={ending.isPending}>
            {t('viewing.end')}
          </Button>
        </Group>
      </Notice>
    </Box>
  );
}

/** From then on the server answers for one's own account again. */
function useEnd(until: string): void {
  useEffect(() => {
    const timer = setTimeout(() => void lookAgain(), Math.max(0, Date.parse(until) - Date.now()));
    return () => clearTimeout(timer);
  }, [until]);
}
