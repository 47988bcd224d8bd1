import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { CodeTabs } from '../../ui/code/code-tabs.js';
import { Loaded } from '../../ui/states.js';
import { FirstRequest } from '../first-request.js';
import { KeyForCode } from '../key-for-code.js';
import { useNewKey } from '../new-key.js';
import { type PlaygroundCall, codeLines } from './call.js';

interface CodeProps {
  call: PlaygroundCall;
  /** Those that may make it. */
  keys: readonly Shape<'Key'>[];
  /** Of the key that is created for code. */
  group: string;
  /** No call of this page is being made: a request that comes now is one of the code. */
  isWaiting: boolean;
}

/** The call of the form, as it would be written; it changes with the form. */
export function CallAsCode({ call, keys, group, isWaiting }: CodeProps) {
  const { t } = useTranslation('calls');
  const relay = useQuery(relayQuery);
  const kept = useNewKey();
  const apiKey = kept && keys.some(({ keyId }) => keyId === kept.keyId) ? kept.apiKey : null;
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
