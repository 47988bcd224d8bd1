import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { addDecimals } from '../../ui/decimal.js';
import { Money } from '../../ui/money.js';
import { useNow } from '../../ui/time/now.js';
import { ErrorState } from '../../ui/states.js';
import { Labelled, TextLine } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { forgetNewKey } from '../new-key.js';

const DAY_MS = 86_400_000;

/** To delete a key that is in use, people type its name. */
export function DeleteToken({ token }: { token: Shape<'Key'> }) {
  const { t } = useTranslation('tokens');
  const remove = async () => {
    await api.DELETE('/api/keys/{keyId}', { params: { path: { keyId: token.keyId } } });
    forgetNewKey(token.keyId);
    await refresh('/api/keys', '/api/keys/{keyId}');
    notify(t('delete.done', { name: token.name }));
  };
  const now = useNow(DAY_MS);
  const isInUse = token.lastUsedAt !== null && Date.parse(token.lastUsedAt) > now - DAY_MS;
  return (
    <ConfirmAction
      texts={t('delete.label', { name: token.name })}
      act={remove}
      size="compact-sm"
      {...(isInUse ? { phrase: token.name } : {})}
      aria-label={t('delete.labelName', { name: token.name })}
    >
      <WhatStops token={token} />
    </ConfirmAction>
  );
}

/** Recent use shows whether something still calls with the key. */
function WhatStops({ token: { keyId, lastUsedAt } }: { token: Shape<'Key'> }) {
  const { t } = useTranslation('tokens');
  const lastDay = useLastDay(keyId);
  return (
    <Stack gap="xs">
      <Text size="sm">{t('delete.hint')}</Text>
      <TextLine>
        <Labelled label={t('columns.lastUsedAt')}>
          {lastUsedAt === null ? t('never') : <When at={lastUsedAt} />}
        </Labelled>
      </TextLine>
      {lastDay.error ? (
        <ErrorState error={lastDay.error} retry={() => void lastDay.refetch()} />
      ) : lastDay.data ? (
        <Text size="sm" component="div" fw={lastDay.data.requests > 0 ? 600 : 400}>
          {t('delete.lastDay', { count: lastDay.data.requests })} (<Money value={lastDay.data.amount} />)
        </Text>
      ) : (
        <Skeleton height={20} />
      )}
    </Stack>
  );
}

function useLastDay(keyId: string) {
  return useQuery({
    queryKey: ['last-day-of-key', keyId],
    queryFn: async () => {
      const from = new Date(Date.now() - DAY_MS).toISOString();
      const { items } = (await api.GET('/api/usage/daily', { params: { query: { keyId, from } } })).data!;
      return {
        requests: items.reduce((sum, { requests }) => sum + requests, 0),
        amount: addDecimals(...items.map(({ amount }) => amount)),
      };
    },
    staleTime: 0,
  });
}
