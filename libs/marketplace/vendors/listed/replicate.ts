import type { VendorModel } from '../vendor-model.js';
import { API_EVANGELIST } from './sources.js';

/** Models that are billed by their output. Those billed by time have no price that is known before. */
function official(
  id: string,
  unitPrice: string,
  limits: VendorModel['limits'] = { maxImages: 1 },
): VendorModel {
  return {
    id,
    vendor: 'replicate',
    family: 'image',
    unit: 'call',
    protocol: 'replicate',
    limits,
    listPrice: { unitPrice },
    source: { url: 'https://replicate.com/pricing', read: '2026-10-07', via: API_EVANGELIST },
  };
}

export const replicateModels: readonly VendorModel[] = [
  official('black-forest-labs/flux-schnell', '0.003', { maxImages: 4 }),
  official('black-forest-labs/flux-dev', '0.025', { maxImages: 4 }),
  official('black-forest-labs/flux-1.1-pro', '0.04'),
  official('ideogram-ai/ideogram-v3-quality', '0.09'),
];
