import type { VendorModel } from '../vendor-model.js';
import { API_EVANGELIST, listedRate } from './sources.js';

export const falModels: readonly VendorModel[] = [
  {
    id: 'fal-ai/flux-pro/kontext',
    vendor: 'fal',
    family: 'image',
    unit: 'call',
    protocol: 'fal',
    limits: { minInputImages: 1 },
    listPrice: { unitPrice: '0.04' },
    source: {
      url: 'https://fal.ai/pricing',
      read: '2026-09-20',
      via: API_EVANGELIST,
    },
  },
  {
    id: 'fal-ai/veo3/fast',
    vendor: 'fal',
    family: 'video',
    unit: 'second',
    protocol: 'fal',
    limits: { defaultSeconds: 8, minSeconds: 4, maxSeconds: 8, aspectRatios: ['16:9', '9:16'] },
    listPrice: { unitPrice: '0.15', rates: [listedRate({ audio: 'off' }, '0.1')] },
    source: { url: 'https://fal.ai/models/fal-ai/veo3/fast/llms.txt', read: '2026-11-23' },
    note: 'The vendor makes videos of 4, 6 and 8 seconds.',
  },
  {
    id: 'kling/v4/text-to-video',
    vendor: 'fal',
    family: 'video',
    unit: 'second',
    protocol: 'fal',
    limits: { minSeconds: 3, maxSeconds: 30, resolutions: ['720p', '1080p'] },
    listPrice: { unitPrice: '0.235', rates: [listedRate({ resolution: '720p' }, '0.157')] },
    source: { url: 'https://fal.ai/learn/tools/kling-api', read: '2026-11-23' },
  },
];
