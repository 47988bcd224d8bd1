import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { CodeLines } from '../../ui/copy.js';
import { Loaded, Section } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import {
  callOf,
  type CodeLanguage,
  codeLines,
  type PlayKind,
  type PlaygroundCall,
} from '../../user/playground/call.js';
import { wishFor } from './calculator-work.js';

const LANGUAGES: readonly { id: CodeLanguage; name: string }[] = [
  { id: 'curl', name: 'curl' },
  { id: 'python', name: 'Python' },
  { id: 'javascript', name: 'Node.js' },
];

/** What is asked for in the samples, as in all examples of the documentation. */
const PROMPTS: Record<PlayKind, string> = {
  image: 'a lighthouse at dusk',
  edit: 'at night',
  video: 'a lighthouse at dusk',
  '3d': 'a small lighthouse',
  chat: 'Name three lighthouses.',
  speech: 'The light is on.',
};

/** Of models whose family does not say what a call looks like, their names do. */
const OTHER_CALLS = /embed|transcri|whisper/i;

/** How a model is called; null where the catalog does not say. */
export function sampleKind({ id, family, limits }: Shape<'ListedModel'>): PlayKind | null {
  if (OTHER_CALLS.test(id)) return null;
  return family === 'image' && limits.minInputImages ? 'edit' : family;
}

function sampleOf(kind: PlayKind, model: Shape<'ListedModel'>): PlaygroundCall {
  return callOf(kind, model.id, {
    prompt: PROMPTS[kind],
    n: '',
    size: '',
    aspect_ratio: '',
    resolution: '',
    seconds: wishFor(model).seconds,
    voice: 'alloy',
    image: null,
  });
}

/** A call of the model in lines to copy, by language. */
export function ModelSamples({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('models');
  const relay = useQuery(relayQuery);
  const kind = sampleKind(model);
  return (
    <Section title={t('samples.title')}>
      {kind === null ? (
        <Hint>
          {t('samples.none')} <a href="/docs/api/">{t('samples.reference')}</a>
        </Hint>
      ) : (
        <Loaded query={relay} lines={6}>
          {({ baseUrl }) => (
            <SampleTabs lines={codeLines(sampleOf(kind, model), { baseUrl, apiKey: null })} />
          )}
        </Loaded>
      )}
    </Section>
  );
}

function SampleTabs({ lines }: { lines: Record<CodeLanguage, string> }) {
  const { t } = useTranslation('models');
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List aria-label={t('samples.title')}>
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
}
