import { describe, expect, it } from 'vitest';
import { toAspectRatio, toResolution } from './aspect-ratio.js';

describe('the aspect ratio of a size', () => {
  it.each([
    ['1024x1024', '1:1'],
    ['1280x720', '16:9'],
    ['720x1280', '9:16'],
    ['1792x1024', '16:9'],
    ['1024x1792', '9:16'],
    ['1536x1024', '3:2'],
    ['10000x1', '20:9'],
    ['auto', 'auto'],
    ['0x5', 'auto'],
    ['large', 'auto'],
  ])('%s is %s', (size, ratio) => {
    expect(toAspectRatio(size)).toBe(ratio);
  });
});

describe('the resolution of a size', () => {
  it.each([
    ['640x480', '480p'],
    ['480x854', '480p'],
    ['1280x720', '720p'],
    ['854x480', '480p'],
    ['1024x1792', '1080p'],
    ['1088x1920', '1080p'],
    ['2560x1440', '1440p'],
    ['3840x2160', '2160p'],
    ['4096x480', '2304p'],
    ['480x4096', '2304p'],
  ])('%s is %s', (size, resolution) => {
    expect(toResolution(size)).toBe(resolution);
  });
});
