import type { VendorModel } from '../vendor-model.js';

function flux(id: string, unitPrice: string): VendorModel {
  return {
    id,
    vendor: 'black-forest-labs',
    family: 'image',
    unit: 'call',
    protocol: 'bfl',
    limits: {},
    listPrice: { unitPrice },
    source: { url: 'https://docs.bfl.ml/quick_start/pricing', read: '2026-11-23' },
  };
}

export const blackForestLabsModels: readonly VendorModel[] = [
  flux('flux-kontext-pro', '0.04'),
  flux('flux-kontext-max', '0.08'),
  flux('flux-pro-1.1', '0.04'),
  flux('flux-pro-1.1-ultra', '0.06'),
];
