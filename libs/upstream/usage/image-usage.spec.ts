import { describe, expect, it } from 'vitest';
import { UsageMeter } from '../usage-meter.js';
import { tokensOfImages } from './image-usage.js';

function streamed(usage: object): UsageMeter {
  const meter = new UsageMeter('imageStream');
  const event = { type: 'image_generation.completed', b64_json: 'AAAA', usage };
  meter.addEvent({ raw: Buffer.alloc(0), event: null, data: JSON.stringify(event) });
  return meter;
}

describe('the usage of images', () => {
  it('counts as images what is not said to be text', () => {
    const usage = { input_tokens: 9, output_tokens: 272 };
    const counts = { input: 9n, cachedInput: 0n, output: 0n, imageOutput: 272n };
    expect(tokensOfImages({ usage })).toEqual(counts);
    expect(streamed(usage).reported()).toEqual(counts);
  });

  it('is not reported by an empty output', () => {
    const usage = { input_tokens: 9, output_tokens: 0 };
    expect(tokensOfImages({ usage })).toBeUndefined();
    const meter = streamed(usage);
    expect(meter.reported()).toBeNull();
    expect(meter.answers).toBe(1);
  });
});
