import { z } from 'zod';
import { protocolNames } from '#upstream/adapters.js';
import { limitsFields } from '#marketplace/limits.fields.js';
import { modelName, noteField, priceFields } from '#marketplace/prices/price-change.fields.js';
import { vendorStates } from '#marketplace/vendors/vendor-diff.js';
import { modelUnits } from '../catalog/catalog.routes.js';
import { modelFamilies } from '#pricing/price-book.js';
import { routesFor } from '../http/route.js';
import { effectiveAt, importAnswer } from './prices.routes.js';

const VENDOR_MODELS = '/api/admin/vendor-models';

const marginPercent = z
  .string()
  .regex(/^\d{1,5}(\.\d{1,6})?$/, 'must be a percentage such as "20" or "12.5"')
  .meta({
    description:
      'Percentage added to the list price. Each price is multiplied exactly and rounded up to six decimals.',
    examples: ['20'],
  });

const vendorModelView = z
  .object({
    id: z.string(),
    vendor: z.string(),
    family: z.enum(modelFamilies),
    unit: modelUnits,
    protocol: z.enum(protocolNames).describe('The protocol of a channel to the vendor.'),
    limits: limitsFields,
    listPrice: priceFields.nullable().describe('Null if no price in USD was found.'),
    source: z.object({
      url: z.string(),
      read: z.string().meta({
        description: 'The day on which the price was read, or the month if the day is not known.',
        examples: ['2026-10-07'],
      }),
      via: z.string().nullable().describe('Who read it there, if it was taken from another catalog.'),
    }),
    note: z.string().nullable(),
    state: z
      .enum(vendorStates)
      .describe(
        '`missing`: there is no such model here; `alias`: the name is an alias here; `unlike`: the model here has another type or unit; `unpriced`: it has no price; `own`: its price was not derived from the catalog; `current`: its price was derived from the catalog; `moved`: the list price has changed since.',
      ),
    asked: priceFields.nullable().describe('The price here, current or announced.'),
    marginPercent: z.string().nullable(),
    formerListPrice: priceFields.nullable(),
    isBelowList: z.boolean(),
    openProposal: z.string().nullable(),
  })
  .meta({ id: 'VendorModel' });

const vendorImportView = importAnswer
  .extend({
    addedModels: z.array(z.string()).describe('Models that were added as disabled.'),
    missing: z.array(z.string()).describe('Models that do not exist here and were skipped.'),
  })
  .meta({ id: 'VendorImport' });

const forAdmins = routesFor(['admin'], 'Prices');
const forReaders = routesFor(['admin', 'finance'], 'Prices');

export const vendorsRoutes = {
  list: forReaders.get('listVendorModels', VENDOR_MODELS, {
    summary: 'Compare list prices of vendors with prices here.',
    answer: z.object({ items: z.array(vendorModelView) }),
  }),
  propose: forAdmins.post('proposeVendorPrices', `${VENDOR_MODELS}/proposals`, {
    summary: 'Propose prices derived from list prices.',
    description:
      'Makes one proposal of all differences from the prices in force. No price changes before it is confirmed. Added models are disabled and in no group.',
    body: z.strictObject({
      models: z.array(modelName).max(1_000).default([]).describe('Empty means all.'),
      vendors: z.array(z.string().max(100)).max(100).default([]).describe('Empty means all.'),
      marginPercent,
      effectiveAt,
      note: noteField.default('List prices of vendors'),
      dryRun: z.boolean().default(false),
      addMissing: z.boolean().default(false),
    }),
    answer: vendorImportView,
    refusals: ['conflict'],
  }),
};
