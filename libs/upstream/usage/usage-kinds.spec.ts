import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { googleMedia, sortInput, sortOutput } from './usage-kinds.js';

describe('tokens by kind', () => {
  it('counts cached tokens of unknown kind as text, as far as there is text', () => {
    expect(sortInput({ input: 100, cached: 40 }, { input: { image: 70 }, cached: {}, output: {} })).toEqual({
      text: 0,
      cached: 30,
      image: 60,
      cachedImage: 10,
      audio: 0,
      cachedAudio: 0,
    });
  });

  it('believes a vendor about what was cached', () => {
    const kinds = { input: { image: 70, audio: 10 }, cached: { image: 20, audio: 5 }, output: {} };
    expect(sortInput({ input: 100, cached: 30 }, kinds)).toEqual({
      text: 15,
      cached: 5,
      image: 50,
      cachedImage: 20,
      audio: 5,
      cachedAudio: 5,
    });
  });

  it('counts each token once, whatever is reported', () => {
    const count = fc.nat(200);
    const media = fc.record({
      image: fc.option(count, { nil: undefined }),
      audio: fc.option(count, { nil: undefined }),
    });
    const reading = fc.record({ input: media, cached: media, output: media });
    fc.assert(
      fc.property(count, count, reading, (input, some, kinds) => {
        const cached = Math.min(some, input);
        const sorted = sortInput({ input, cached }, kinds);
        const all = Object.values(sorted);
        expect(all.every((each) => each >= 0)).toBe(true);
        expect(all.reduce((sum, each) => sum + each, 0)).toBe(input);
        expect(sorted.cached + sorted.cachedImage + sorted.cachedAudio).toBe(cached);
        const { text, image, audio } = sortOutput(input, kinds.output);
        expect([text + image + audio, Math.min(text, image, audio) >= 0]).toEqual([input, true]);
      }),
    );
  });

  it('reads Google’s modalities', () => {
    const list = [
      { modality: 'TEXT', tokenCount: 3 },
      { modality: 'IMAGE', tokenCount: 258 },
      { modality: 'VIDEO', tokenCount: 10 },
      { modality: 'AUDIO', tokenCount: 32 },
    ];
    expect(googleMedia(list)).toEqual({ image: 268, audio: 32 });
    expect(googleMedia(undefined)).toBeNull();
  });
});
