import { z } from 'zod';
import { channelProtocols } from '#catalog/catalog.js';
import { limitsFields } from '#marketplace/limits.fields.js';
import { modelName, noteField, priceFields } from '#marketplace/prices/price-change.fields.js';
import { vendorStates } from '#marketplace/vendors/vendor-diff.js';
import { modelFamilies, modelUnits } from '../catalog/catalog.routes.js';
import { routesFor } from '../http/route.js';
import { effectiveAt, importAnswer } from './prices.routes.js';

const VENDOR_MODELS = '/api/admin/vendor-models';

const marginPercent = z
  .string()
  .regex(/^\d{1,5}(\.\d{1,6})?$/, 'must be a percentage such as "20" or "12.5"')
  .meta({
    description:
      'Percent on the list price. Each number is multiplied exactly and rounded up to six decimals.',
    examples: ['20'],
  });

const vendorModelView = z
  .object({
    id: z.string(),
    vendor: z.string(),
    family: modelFamilies,
    unit: modelUnits,
    protocol: z.enum(channelProtocols).meta({ description: 'What a channel to the vendor speaks.' }),
    limits: limitsFields,
    listPrice: priceFields.nullable().meta({ description: 'Null where none in USD was found.' }),
    source: z.object({
      url: z.string(),
      read: z.string().meta({
        description: 'The day on which it was read there; the month, where no more is known.',
        examples: ['2026-10-07'],
      }),
      via: z.string().nullable().meta({ description: 'Who read it there, if it is passed on.' }),
    }),
    note: z.string().nullable(),
    state: z.enum(vendorStates).meta({
      description:
        '`missing`: no such model here; `alias`: another name of one; `unlike`: of another family, or counted otherwise; `unpriced`; `own`: its price was not derived from the catalog; `current`: it was; `moved`: it was, and the list price has changed since.',
    }),
    asked: priceFields.nullable().meta({ description: 'What is asked here, or will be.' }),
    marginPercent: z.string().nullable(),
    formerListPrice: priceFields.nullable(),
    isBelowList: z.boolean(),
    openProposal: z.string().nullable(),
  })
  .meta({ id: 'VendorModel' });

const vendorImportView = importAnswer
  .extend({
    addedModels: z.array(z.string()).meta({ description: 'Models that were added, switched off.' }),
    missing: z.array(z.string()).meta({ description: 'Models that are not here and were left out.' }),
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
      'One proposal of what differs from what is in force; nothing costs more or less before it is confirmed. Models that ' +
      'are to be added are switched off and in no group.',
    body: z.strictObject({
      models: z.array(modelName).max(1_000).default([]).meta({ description: 'Empty: all.' }),
      vendors: z.array(z.string().max(100)).max(100).default([]).meta({ description: 'Empty: all.' }),
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
