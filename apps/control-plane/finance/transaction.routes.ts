import { z } from 'zod';
import { postingKinds } from '#ledger/postings/posting-kinds.js';
import { amountView, timeView, numberText, wordView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const headFields = {
  id: numberText,
  kind: wordView(postingKinds),
  reference: z.string().meta({ description: 'Unique, so that nothing is posted twice.' }),
  accountId: z.string().nullable(),
  chargeId: z.string().nullable(),
  effectiveAt: timeView.meta({ description: 'When the recorded fact happened.' }),
  recordedAt: timeView,
};

const entryView = z
  .object({
    ordinal: z.number().int(),
    ledgerAccountId: numberText,
    code: z.string(),
    commodity: z.enum(['CRD', 'PAY', 'UPC']),
    unit: z.string(),
    amount: z
      .string()
      .meta({ description: "In the commodity's unit, as a decimal string. Positive is a credit." }),
    model: z.string().nullable(),
    group: z.string().nullable(),
    channel: z.string().nullable(),
    keyId: z.string().nullable(),
  })
  .meta({ id: 'LedgerEntry' });

const forFinance = routesFor(['finance'], 'Books');

export const transactionRoutes = {
  show: forFinance.get('readLedgerTransaction', '/api/finance/transactions/{transactionId}', {
    summary: 'Get a ledger transaction with its entries and related records.',
    params: z.strictObject({
      transactionId: z.string().regex(/^\d{1,18}$/, 'must be a whole number'),
    }),
    answer: z.object({
      ...headFields,
      entries: z.array(entryView),
      linked: z
        .array(z.object({ ...headFields, relation: z.enum(['reverses', 'reversed_by', 'same_charge']) }))
        .meta({ description: 'At most 100, by ID.' }),
      charge: z
        .object({
          id: z.string(),
          state: z.string(),
          amount: amountView,
          settled: amountView.nullable(),
          released: amountView.nullable(),
          taskId: z.string().nullable(),
        })
        .nullable(),
      late: z
        .object({ periodId: numberText, happenedAt: timeView })
        .nullable()
        .meta({ description: 'Whether it records a fact of a period that was already closed.' }),
      block: z
        .object({ number: numberText, hash: z.string(), sealedAt: timeView })
        .nullable()
        .meta({ description: 'The block of the hash chain that seals it. Null if not yet sealed.' }),
    }),
  }),
};
