import { Button, Group, Stack, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh, relayQuery } from '../../api/queries.js';
import { FormFault } from '../../ui/forms/form.js';
import { Notice } from '../../ui/notice.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { type PlaygroundCall, codeLines } from './call.js';
import { CodeTabs } from './code-tabs.js';
import { FirstRequest } from './first-request.js';
import type { KeptKey } from './first-key.js';

interface CodeProps {
  call: PlaygroundCall;
  /** Of the key that is created for code. */
  group: string;
  kept: KeptKey;
  /** No call of this page is being made: a request that comes now is one of the code. */
  isWaiting: boolean;
}

/** The call of the form, as it would be written; it changes with the form. */
export function CallAsCode({ call, group, kept, isWaiting }: CodeProps) {
  const { t } = useTranslation('calls');
  const relay = useQuery(relayQuery);
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {t('play.code')}
      </Title>
      <KeyForCode group={group} kept={kept} />
      <Loaded query={relay}>
        {({ baseUrl }) => (
          <CodeTabs label={t('play.code')} lines={codeLines(call, { baseUrl, apiKey: kept.apiKey })} />
        )}
      </Loaded>
      {kept.apiKey !== null && isWaiting && <FirstRequest />}
    </Stack>
  );
}

/** The key itself is known only when it is created: else people put in one that they saved, or create one here. */
function KeyForCode({ group, kept }: { group: string; kept: KeptKey }) {
  const { t } = useTranslation('calls');
  const creating = useMutation({
    mutationFn: async () =>
      (await api.POST('/api/keys', { body: { name: t('play.codeKeyName'), group } })).data!,
    onSuccess: async ({ apiKey }) => {
      kept.keep(apiKey);
      await refresh('/api/keys');
    },
  });
  if (kept.apiKey !== null) return <Notice tone="warning">{t('play.keyOnce')}</Notice>;
  return (
    <Group gap="sm">
      <Hint>{t('play.codeHint')}</Hint>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => creating.mutate()}
        loading={creating.isPending}
        disabled={group === ''}
      >
        {t('play.codeKey')}
      </Button>
      <FormFault error={creating.error} />
    </Group>
  );
}
