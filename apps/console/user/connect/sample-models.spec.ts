import { describe, expect, it } from 'vitest';
import type { Shape } from '../../api/client.js';
import { codeSamples, usualModels } from '../../visitor/code-samples.js';
import { sampleModels } from './sample-models.js';

function model(id: string, family: Shape<'ListedModel'>['family'] = 'image'): Shape<'ListedModel'> {
  const groups = [{ group: 'g' }] as Shape<'ListedModel'>['groups'];
  const listed: Partial<Shape<'ListedModel'>> = { id, family, available: true, limits: {}, groups };
  return listed as Shape<'ListedModel'>;
}

const of = (...models: Shape<'ListedModel'>[]) => sampleModels(models, { group: 'g' });

describe('the models in samples', () => {
  it('are those of the documentation if the group has them', () => {
    const listed = [model('another'), model(usualModels.image), model(usualModels.messages, 'chat')];
    expect(of(...listed)).toEqual({ image: usualModels.image, messages: usualModels.messages });
  });

  it('are called with Google’s SDK only if the gateway serves them in that style', () => {
    expect(of(model('gemini-2.5-flash-image'), model('flux-2-pro'))).toEqual({
      image: 'gemini-2.5-flash-image',
    });
    expect(of(model('imgmodel-9')).google).toBe('imgmodel-9');
    expect(of(model('imagen-4')).google).toBe('imagen-4');
  });

  it('are left out if the group has none, unless it has no model at all', () => {
    const baseUrl = 'https://relay.example';
    const names = codeSamples({ baseUrl, models: of(model('talk', 'chat')) }).map(({ id }) => id);
    expect(names).toEqual(['anthropic']);
    expect(of(model('talk', 'speech'))).toEqual(usualModels);
  });
});
