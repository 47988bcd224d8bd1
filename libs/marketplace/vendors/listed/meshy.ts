import type { VendorModel } from '../vendor-model.js';

export const meshyModels: readonly VendorModel[] = [
  {
    id: 'meshy-6',
    vendor: 'meshy',
    family: '3d',
    unit: 'call',
    protocol: 'meshy',
    limits: {},
    listPrice: null,
    source: { url: 'https://www.meshy.ai/api', read: '2026-11-25', via: 'a copy of the page without a date' },
    note: 'No price in USD was found. The vendor takes 20 credits for a draft and 10 for a texture; what a credit costs depends on your plan.',
  },
];
