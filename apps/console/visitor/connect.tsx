import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../api/queries.js';
import { CodeTabs } from '../ui/code-tabs.js';
import { CopyLine } from '../ui/copy.js';
import { Loaded } from '../ui/states.js';
import { Hint } from '../ui/texts.js';
import { codeSamples, type SampleModels } from './code-samples.js';

interface ConnectProps {
  /** Put into the lines; null: a placeholder is there, and the page says what to do about it. */
  apiKey?: string | null;
  models?: Partial<SampleModels>;
}

/** The base address, and a program for each SDK that calls it. */
export function Connect({ apiKey, models = {} }: ConnectProps) {
  const { t } = useTranslation('visitor');
  const relay = useQuery(relayQuery);
  return (
    <Loaded query={relay} lines={6}>
      {({ baseUrl }) => (
        <Stack gap="sm">
          <Text>{t('connect.baseUrl')}</Text>
          <CopyLine value={baseUrl} label={t('connect.baseUrlLabel')} />
          <Samples baseUrl={baseUrl} apiKey={apiKey ?? null} models={models} />
          <Hint>
            {t('connect.suffix')} {apiKey === undefined && t('connect.replace')}
          </Hint>
        </Stack>
      )}
    </Loaded>
  );
}

function Samples({ baseUrl, apiKey, models }: { baseUrl: string } & Required<ConnectProps>) {
  const { t } = useTranslation('visitor');
  const codes = codeSamples({ baseUrl, models, ...(apiKey !== null && { apiKey }) });
  return <CodeTabs label={t('connect.clients')} codes={codes} />;
}
