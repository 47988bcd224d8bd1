import { describe, expect, it } from 'vitest';
import type { PricedModel } from '#pricing/price-book.js';
import { canServe } from '#upstream/adapters.js';
import { limitsFields } from '../limits.fields.js';
import { modelName, priceFields } from '../prices/price-change.fields.js';
import { ratesFault, ratesOf } from '../prices/rates.js';
import type { VendorModel } from './vendor-model.js';
import { vendorModels } from './vendor-models.js';

function pricedModel({ id, family, unit }: VendorModel): PricedModel {
  return { id, family, unit, pricedAs: id, enabled: true };
}

describe('the vendor catalog', () => {
  it('has each model once', () => {
    expect(new Set(vendorModels.map(({ id }) => id)).size).toBe(vendorModels.length);
  });

  it.each(vendorModels.map((model) => [model.id, model] as const))('can sell %s as it is', (id, model) => {
    expect(modelName.safeParse(id).success).toBe(true);
    expect(limitsFields.safeParse(model.limits).error).toBeUndefined();
    if (model.listPrice === null) expect(model.note).toMatch(/^No price in USD was found/);
    else {
      expect(priceFields.safeParse(model.listPrice).error).toBeUndefined();
      expect('input' in model.listPrice).toBe(model.unit === 'token');
    }
    expect(ratesFault(pricedModel(model), ratesOf(model.listPrice))).toBeNull();
    expect(canServe(model.protocol, model.family)).toBe(true);
  });

  it.each(vendorModels.map((model) => [model.id, model] as const))(
    'names the source of %s',
    (_, { source }) => {
      expect(URL.canParse(source.url) && source.url.startsWith('https://')).toBe(true);
      expect(new Date(source.read).toISOString().slice(0, source.read.length)).toBe(source.read);
      expect([7, 10]).toContain(source.read.length);
      expect(source.read < new Date().toISOString()).toBe(true);
    },
  );
});
