import { z } from 'zod';
import { transactionHead, transactionCharge } from '#finance/transaction.js';
import { timeView, numberText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const entryView = z
  .object({
    ordinal: z.int(),
    ledgerAccountId: numberText,
    code: z.string(),
    commodity: z.enum(['CRD', 'PAY', 'UPC']),
    unit: z.string(),
    amount: z.string().describe("In the commodity's unit, as a decimal string. Positive is a credit."),
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
    answer: transactionHead.extend({
      entries: z.array(entryView),
      linked: z
        .array(transactionHead.extend({ relation: z.enum(['reverses', 'reversed_by', 'same_charge']) }))
        .describe('At most 100, by ID.'),
      charge: transactionCharge.nullable(),
      late: z
        .object({ periodId: numberText, happenedAt: timeView })
        .nullable()
        .describe('Whether it records a fact of a period that was already closed.'),
      block: z
        .object({ number: numberText, hash: z.string(), sealedAt: timeView })
        .nullable()
        .describe('The block of the hash chain that seals it. Null if not yet sealed.'),
    }),
  }),
};
