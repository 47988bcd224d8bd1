import { describe, expect, it } from 'vitest';
import { timesReading } from '../../../test/support/cpu-time.js';
import { joinModelId } from './model-path.js';

describe('a path with a model ID that contains slashes', () => {
  it.each([
    ['GET', '/v1/models/openai/gpt-image-1', '/v1/models/openai%2Fgpt-image-1'],
    ['GET', '/v1/models/a/b:c/D.1/?x=/y', '/v1/models/a%2Fb:c%2FD.1?x=/y'],
    ['GET', '/v1beta/models/vidmodel/x', '/v1beta/models/vidmodel%2Fx'],
    ['GET', '/v1beta/models/vidmodel/x/operations/7', '/v1beta/models/vidmodel%2Fx/operations/7'],
    ['POST', '/v1beta/models/imgmodel/x:predict', '/v1beta/models/imgmodel%2Fx:predict'],
    ['POST', '/v1beta/models/imgmodel/x:1:predict?key=a/b', '/v1beta/models/imgmodel%2Fx:1:predict?key=a/b'],
  ])('%s %s has it in one segment', (method, url, joined) => {
    expect(joinModelId(method, url)).toBe(joined);
  });

  it.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/models/'],
    ['GET', '/v1/models/openai%2Fgpt-image-1'],
    ['GET', '/v1beta/models/vidmodel-3/operations/7'],
    ['GET', '/v1/videos/models/a/b'],
    ['POST', '/v1/models/chat/completions'],
    ['POST', '/v1beta/models/imgmodel-4:predict'],
    ['POST', '/v1beta/models/chat/completions'],
  ])('%s %s stays', (method, url) => {
    expect(joinModelId(method, url)).toBe(url);
  });

  it('takes no time to find among thousands of slashes', () => {
    const url = `/v1/models/${'/'.repeat(4_000)}a`;
    expect(joinModelId('GET', `${url}//`)).toBe(`/v1/models/${'%2F'.repeat(4_000)}a`);
    expect(timesReading(() => joinModelId('GET', url))).toBeLessThan(5);
  });
});
