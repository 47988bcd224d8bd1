import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery, type Shape } from '../../api/client.js';
import { CodeTabs } from '../../ui/code/code-tabs.js';
import { Loaded } from '../../ui/page.js';
import { FirstRequest } from '../first-request.js';
import { KeyForCode } from '../key-for-code.js';
import { useNewKey } from '../new-key.js';
import { type PlaygroundCall, codeLines } from './call.js';

interface CodeProps {
  call: PlaygroundCall;
  /** The keys that may make the call. */
  keys: readonly Shape<'Key'>[];
  /** The group of a key created for the code. */
  group: string;
  /** No call of this page is in progress, so a new request comes from the code. */
  isWaiting: boolean;
}

export function CallAsCode({ call, keys, group, isWaiting }: CodeProps) {
  const { t } = useTranslation('calls');
  const kept = useNewKey();
  const apiKey = kept && keys.some(({ keyId }) => keyId === kept.keyId) ? kept.apiKey : null;
  const relay = useQuery(relayQuery);
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {t('play.code')}
      </Title>
      <KeyForCode group={group} isFilled={apiKey !== null} />
      <Loaded query={relay}>
        {({ baseUrl }) => <CodeTabs label={t('play.code')} codes={codeLines(call, { baseUrl, apiKey })} />}
      </Loaded>
      {kept && apiKey !== null && isWaiting && <FirstRequest keyId={kept.keyId} />}
    </Stack>
  );
}
