import { Box, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { Notice } from '../ui/notice.js';
import { When } from '../ui/time/when.js';
import { notifyFailure } from './notices.js';
import { endView, isViewOver } from './session.js';

type Viewing = NonNullable<Shape<'Session'>['viewing']>;

/** Above every page while support views a customer's console: whose it is, and how to leave. */
export function ViewingBanner({ viewing }: { viewing: Viewing }) {
  const { t } = useTranslation('shell');
  const { accountId, name, until } = viewing;
  useEnd(until);
  const ending = useEnding(accountId);
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

function useEnding(accountId: string) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      await endView();
      await navigate({ to: '/support/accounts/$accountId', params: { accountId }, ignoreBlocker: true });
    },
    onError: notifyFailure,
  });
}

/** Clocks differ, so the server is asked until it agrees that the view has ended. */
const ASK_AGAIN_MS = 2_000;

/** Notices when the view ends. */
function useEnd(until: string): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      const isOver = await isViewOver().catch(() => false);
      if (!isOver) timer = setTimeout(() => void ask(), ASK_AGAIN_MS);
    };
    timer = setTimeout(() => void ask(), Math.max(0, Date.parse(until) - Date.now()));
    return () => clearTimeout(timer);
  }, [until]);
}
