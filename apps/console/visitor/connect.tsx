import { Stack, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../api/queries.js';
import { CodeLines, CopyLine } from '../ui/copy.js';
import { Loaded } from '../ui/states.js';
import { Hint } from '../ui/texts.js';
import { codeSamples } from './code-samples.js';

/** The base address, and the lines that point each SDK at it. */
export function Connect() {
  const { t } = useTranslation('visitor');
  const relay = useQuery(relayQuery);
  return (
    <Loaded query={relay} lines={6}>
      {({ baseUrl }) => (
        <Stack gap="sm">
          <Text>{t('connect.baseUrl')}</Text>
          <CopyLine value={baseUrl} label={t('connect.baseUrlLabel')} />
          <Samples baseUrl={baseUrl} />
          <Hint>{t('connect.suffix')}</Hint>
        </Stack>
      )}
    </Loaded>
  );
}

function Samples({ baseUrl }: { baseUrl: string }) {
  const { t } = useTranslation('visitor');
  const samples = codeSamples(baseUrl);
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List aria-label={t('connect.clients')}>
        {samples.map(({ id, name }) => (
          <Tabs.Tab key={id} value={id}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ id, name, code }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          <CodeLines code={code} label={name} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
