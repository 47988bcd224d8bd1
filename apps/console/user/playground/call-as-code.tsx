import { Stack, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../../api/queries.js';
import { CodeLines } from '../../ui/copy.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { type PlaygroundCall, type CodeLanguage, codeLines } from './call.js';

const LANGUAGES: readonly { id: CodeLanguage; name: string }[] = [
  { id: 'curl', name: 'curl' },
  { id: 'javascript', name: 'JavaScript' },
  { id: 'python', name: 'Python' },
];

/** The call of the form, as it would be written; it changes with the form. */
export function CallAsCode({ call }: { call: PlaygroundCall }) {
  const { t } = useTranslation('calls');
  const relay = useQuery(relayQuery);
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {t('play.code')}
      </Title>
      <Hint>{t('play.codeHint')}</Hint>
      <Loaded query={relay}>
        {({ baseUrl }) => {
          const lines = codeLines(call, baseUrl);
          return (
            <Tabs defaultValue="curl" keepMounted={false}>
              <Tabs.List aria-label={t('play.code')}>
                {LANGUAGES.map(({ id, name }) => (
                  <Tabs.Tab key={id} value={id}>
                    {name}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {LANGUAGES.map(({ id, name }) => (
                <Tabs.Panel key={id} value={id} pt="sm">
                  <CodeLines code={lines[id]} label={name} />
                </Tabs.Panel>
              ))}
            </Tabs>
          );
        }}
      </Loaded>
    </Stack>
  );
}
