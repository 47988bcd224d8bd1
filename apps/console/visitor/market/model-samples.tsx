import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery, type Shape } from '../../api/client.js';
import { CodeTabs } from '../../ui/code/code-tabs.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { callOf, codeLines, type PlayKind, type PlaygroundCall } from '../../user/playground/call.js';
import { wishFor } from './calculator-work.js';

/** The prompts of the docs' examples. */
const PROMPTS: Record<PlayKind, string> = {
  image: 'a lighthouse at dusk',
  edit: 'at night',
  video: 'a lighthouse at dusk',
  '3d': 'a small lighthouse',
  chat: 'Name three lighthouses.',
  speech: 'The light is on.',
};

/** Calls that the playground has no form for, recognized by the model's name. */
const OTHER_CALLS = [
  { names: /embed/i, path: 'embeddings', body: { input: 'a lighthouse at dusk' } },
  { names: /transcri|whisper/i, path: 'audio/transcriptions', body: {} },
];

function otherCall(model: string) {
  return OTHER_CALLS.find(({ names }) => names.test(model));
}

/** Null if the playground cannot call it. */
export function playKindOf({ id, family, limits }: Shape<'ListedModel'>): PlayKind | null {
  if (otherCall(id)) return null;
  return family === 'image' && limits.minInputImages ? 'edit' : family;
}

function sampleOf(model: Shape<'ListedModel'>): PlaygroundCall {
  const other = otherCall(model.id);
  if (other) return { path: other.path, body: { model: model.id, ...other.body }, file: null };
  const kind = playKindOf(model) ?? model.family;
  return callOf(kind, model.id, {
    prompt: PROMPTS[kind],
    n: '',
    size: '',
    aspect_ratio: '',
    resolution: '',
    generate_audio: true,
    seconds: wishFor(model).seconds,
    voice: 'alloy',
    image: null,
  });
}

export function ModelSamples({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('models');
  const relay = useQuery(relayQuery);
  return (
    <Section title={t('samples.title')}>
      <Loaded query={relay} lines={6}>
        {({ baseUrl }) => (
          <CodeTabs
            label={t('samples.title')}
            codes={codeLines(sampleOf(model), { baseUrl, apiKey: null })}
          />
        )}
      </Loaded>
    </Section>
  );
}
