import { z } from 'zod';
import { modelFamilies } from '#pricing/price-book.js';
import { type RowOf, timeView } from '#platform/http/fields.js';
import { limitsFields } from './limits.fields.js';
import { priceFields, productFields } from './prices/price-change.fields.js';

const multiplierView = z.string().meta({ description: 'An exact decimal string.', examples: ['1'] });

const available = z
  .boolean()
  .describe('Whether an enabled upstream is configured. It does not say whether the upstream is responding.');

export const listedModel = z
  .object({
    id: z.string(),
    family: z.enum(modelFamilies),
    vendor: z.string(),
    unit: z.enum(['call', 'second', 'million_tokens']),
    aliasOf: z.string().nullable().describe('The model that this is an alias of, and whose price it has.'),
    listPrice: priceFields.nullable(),
    groups: z.array(
      z.object({
        group: z.string(),
        rule: z
          .enum(['list', 'fixed_per_call'])
          .describe('`fixed_per_call`: the group has a fixed price per call, regardless of the list price.'),
        multiplier: multiplierView,
        price: productFields.describe('The exact price of a unit in the group. Amounts are rounded up.'),
        available,
      }),
    ),
    limits: limitsFields,
    available,
    nextChangeAt: timeView
      .nullable()
      .describe('When the next announced price takes effect. Null if none is announced.'),
  })
  .meta({ id: 'ListedModel' });

export type ListedModel = RowOf<typeof listedModel, Date>;

export const historyEntry = z
  .object({
    kind: z.enum(['price', 'multiplier', 'rule']),
    group: z.string().nullable().describe('The group of a multiplier or rule. Null for the list price.'),
    effectiveFrom: timeView.nullable().describe('Null means from the beginning.'),
    state: z.enum(['past', 'in_force', 'announced']),
    price: priceFields.nullable().describe('Null if withdrawn, or not a price.'),
    multiplier: multiplierView.nullable(),
  })
  .meta({ id: 'PriceHistoryEntry' });

export type HistoryEntry = RowOf<typeof historyEntry, Date>;
