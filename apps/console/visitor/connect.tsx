import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../api/client.js';
import { CodeTabs } from '../ui/code/code-tabs.js';
import { CopyLine } from '../ui/copy.js';
import { Loaded } from '../ui/states.js';
import { Hint } from '../ui/texts.js';
import { codeSamples, KEY_PLACEHOLDER, type SampleModels, usualModels } from './code-samples.js';

interface ConnectProps {
  /** Null: the code has a placeholder, and the page says what to do about it. */
  apiKey?: string | null;
  models?: Partial<SampleModels>;
}

export function Connect({ apiKey, models = usualModels }: ConnectProps) {
  const { t } = useTranslation('visitor');
  const relay = useQuery(relayQuery);
  return (
    <Loaded query={relay} lines={6}>
      {({ baseUrl }) => (
        <Stack gap="sm">
          <Text>{t('connect.baseUrl')}</Text>
          <CopyLine value={baseUrl} label={t('connect.baseUrlLabel')} />
          <CodeTabs
            label={t('connect.clients')}
            codes={codeSamples({ baseUrl, models, apiKey: apiKey ?? KEY_PLACEHOLDER })}
          />
          <Hint>
            {t('connect.suffix')} {apiKey === undefined && t('connect.replace')}
          </Hint>
        </Stack>
      )}
    </Loaded>
  );
}
