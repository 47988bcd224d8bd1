import { importView } from '../prices/prices.view.js';
import type { VendorComparison } from './vendor-diff.js';
import type { VendorImport } from './vendor.import.js';

/** A model of the catalog compared with this installation. */
export function vendorModelView({ model, base, ...compared }: VendorComparison) {
  const { source, note = null, ...rest } = model;
  return {
    ...rest,
    source: { ...source, via: source.via ?? null },
    note,
    ...compared,
    marginPercent: base && base.marginPercent,
    formerListPrice: compared.state === 'moved' && base ? base.listPrice : null,
  };
}

/** The effect of an import from the catalog. */
export function vendorImportView({ addedModels, missing, ...result }: VendorImport) {
  return { ...importView(result), addedModels: [...addedModels], missing: [...missing] };
}
