import { z } from 'zod';
import { exactTime, pageOf, pageQuery, time, timeView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

/** Of a ledger account or a transaction: a whole number. */
const number = z.string().regex(/^\d{1,18}$/, 'must be a whole number');

const commodity = z
  .enum(['CRD', 'PAY', 'UPC'])
  .meta({ description: 'CRD is balance, PAY what customers pay in, UPC what upstreams bill in.' });
const money = z.string().meta({
  description: 'Of the unit, a decimal string; positive is a credit, negative a debit.',
  examples: ['-0.02'],
});
const unit = z.string().meta({ description: 'CRD, UPC or the currency.', examples: ['CRD', 'USD'] });

const accountFields = {
  id: z.string(),
  code: z.string().meta({ examples: ['customer:01k0000000000000000000000:main', 'issued:credit'] }),
  kind: z.enum(['liability', 'asset', 'revenue', 'contra', 'expense', 'clearing']),
  commodity,
  unit,
  accountId: z.string().nullable(),
};

const certain = timeView.nullable().meta({
  description:
    'Where the ledger is certain: not later than what was asked for, and no transaction from before it still runs. Null: not yet.',
});

const end = timeView.nullable().meta({
  description:
    'By recorded time where the ledger is certain, as `recordedBefore`. By effective time what was asked for: facts from before it may come later, and only what was recorded before `recordedBefore` is in it. Null: not yet.',
});

const trialBalanceView = z
  .object({
    by: z.enum(['recorded', 'effective']),
    at: end,
    recordedBefore: certain,
    balances: z.array(z.object({ ...accountFields, balance: money })),
    totals: z.array(z.object({ commodity, total: z.string() })).meta({ description: 'Each is 0.' }),
  })
  .meta({ id: 'TrialBalance' });

const statementView = z
  .object({
    account: z.object(accountFields),
    by: z.enum(['recorded', 'effective']),
    from: timeView.nullable(),
    to: end,
    recordedBefore: certain,
    opening: money,
    closing: money,
    items: z.array(
      z.object({
        transactionId: z.string(),
        recordedAt: timeView,
        effectiveAt: timeView,
        kind: z.string(),
        reference: z.string(),
        chargeId: z.string().nullable(),
        amount: money,
        balance: money,
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'LedgerStatement' });

const by = z.enum(['recorded', 'effective']).meta({
  description: 'Which time of postings counts: when they were recorded, or when what they record happened.',
});
const recordedBefore = exactTime.optional().meta({
  description: 'By effective time: as the books were known before this time, to the microsecond.',
});
const period = number.optional().meta({
  description:
    'A closed period, in place of the times: by effective time, as the books were known at its close. With its opening balances this equals its stored trial balance.',
});

/** Of a journal or a statement. */
const range = {
  by: by.optional(),
  from: time.optional().meta({ description: 'Not before this time.' }),
  to: time.optional().meta({ description: 'Before this time.' }),
  recordedBefore,
  period,
};

const instant = {
  by: by.default('recorded'),
  at: time.optional().meta({ description: 'Postings before it count; now when left out.' }),
  recordedBefore,
};

const forFinance = routesFor(['finance'], 'Books', 'reports');

export const ledgerRoutes = {
  trialBalance: forFinance.get('readTrialBalance', '/api/finance/trial-balance', {
    summary: 'Get the trial balance at a given time.',
    description:
      'Up to the oldest transaction that runs, so that what it said stays true: by recorded time for its `at`, by effective time for its `at` and `recordedBefore` together, since facts may come late.',
    query: z.strictObject(instant),
    answer: trialBalanceView,
  }),
  trialBalanceCsv: forFinance.csv('exportTrialBalance', '/api/finance/trial-balance.csv', {
    summary: 'The same as a file.',
    query: z.strictObject(instant),
  }),
  accounts: forFinance.get('listLedgerAccounts', '/api/finance/ledger-accounts', {
    summary: 'List ledger accounts by code.',
    query: z.strictObject({
      ...pageQuery,
      code: z.string().max(100).optional().meta({ description: 'What codes begin with.' }),
    }),
    answer: pageOf(z.object(accountFields)),
  }),
  statement: forFinance.get(
    'readLedgerAccountStatement',
    '/api/finance/ledger-accounts/{ledgerAccountId}/statement',
    {
      summary: 'List the entries of a ledger account between its opening and closing balance, oldest first.',
      params: z.strictObject({ ledgerAccountId: number }),
      query: z.strictObject({ ...pageQuery, ...range, cursor: z.string().max(400).optional() }),
      answer: statementView,
      refusals: ['not_found', 'conflict'],
    },
  ),
  export: forFinance.get('exportLedger', '/api/finance/export', {
    summary: 'Export the books for other programs.',
    description:
      'CSV and JSON Lines have credits positive, as the ledger has them; hledger and beancount have debits positive, declare accounts and commodities, and assert the balance of each account that moved at the end of each day.',
    query: z.strictObject({
      format: z.enum(['csv', 'jsonl', 'hledger', 'beancount']),
      ...range,
      ledgerAccountId: number.optional().meta({ description: 'Only its transactions, each of them whole.' }),
      detail: z.enum(['full', 'summary']).default('full').meta({
        description:
          'A summary has one transaction a day, with all customers together. It is of the whole firm.',
      }),
    }),
    produces: ['text/csv', 'application/jsonl', 'text/plain'],
    refusals: ['not_found', 'conflict'],
  }),
};
