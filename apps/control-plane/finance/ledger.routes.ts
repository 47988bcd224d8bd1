import { z } from 'zod';
import { postingKinds } from '#ledger/postings/posting-kinds.js';
import { exactTime, pageOf, pageQuery, time, timeView, wordView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

/** Of a ledger account or a transaction: a whole number. */
const number = z.string().regex(/^\d{1,18}$/, 'must be a whole number');

const commodity = z
  .enum(['CRD', 'PAY', 'UPC'])
  .describe(
    'CRD: credits. PAY: the currency that customers pay in. UPC: the currency that upstreams bill in.',
  );
const money = z.string().meta({
  description: "In the commodity's unit, as a decimal string. Positive is a credit, negative a debit.",
  examples: ['-0.02'],
});
const unit = z.string().meta({ description: 'CRD, UPC or a currency.', examples: ['CRD', 'USD'] });

const accountFields = {
  id: z.string(),
  code: z.string().meta({ examples: ['customer:01k0000000000000000000000:main', 'issued:credit'] }),
  kind: z.enum(['liability', 'asset', 'revenue', 'contra', 'expense', 'clearing']),
  commodity,
  unit,
  accountId: z.string().nullable(),
};

const certain = timeView
  .nullable()
  .describe(
    'The ledger is final up to this time: not later than requested, and no earlier transaction is still running. Null if not yet known.',
  );

const end = timeView
  .nullable()
  .describe(
    'By recorded time: the time up to which the ledger is final, equal to `recordedBefore`. By effective time: the requested time; earlier facts can still arrive, and only postings recorded before `recordedBefore` are included. Null if not yet known.',
  );

const trialBalanceView = z
  .object({
    by: z.enum(['recorded', 'effective']),
    at: end,
    recordedBefore: certain,
    balances: z.array(z.object({ ...accountFields, balance: money })),
    totals: z.array(z.object({ commodity, total: z.string() })).describe('All of them are 0.'),
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
        kind: wordView(postingKinds),
        reference: z.string(),
        chargeId: z.string().nullable(),
        amount: money,
        balance: money,
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'LedgerStatement' });

const by = z
  .enum(['recorded', 'effective'])
  .describe('The time that counts: when postings were recorded, or when the recorded facts happened.');
const recordedBefore = exactTime
  .optional()
  .describe('By effective time: the books as known before this time, to the microsecond.');
const period = number
  .optional()
  .describe(
    'A closed period, instead of times: by effective time, as known at its close. With its opening balances this equals its stored trial balance.',
  );

/** Of a journal or a statement. */
const range = {
  by: by.optional(),
  from: time.optional().describe('At or after this time.'),
  to: time.optional().describe('Before this time.'),
  recordedBefore,
  period,
};

const instant = {
  by: by.default('recorded'),
  at: time.optional().describe('Includes postings before this time. Default: now.'),
  recordedBefore,
};

const forFinance = routesFor(['finance'], 'Books', 'reports');

export const ledgerRoutes = {
  trialBalance: forFinance.get('readTrialBalance', '/api/finance/trial-balance', {
    summary: 'Get the trial balance at a given time.',
    description:
      'The answer stops before the oldest running transaction, so it stays true: for its `at` by recorded time, and for `at` and `recordedBefore` together by effective time, because facts can arrive late.',
    query: z.strictObject(instant),
    answer: trialBalanceView,
    csv: ['exportTrialBalance', 'Download the trial balance as CSV.'],
  }),
  accounts: forFinance.get('listLedgerAccounts', '/api/finance/ledger-accounts', {
    summary: 'List ledger accounts by code.',
    query: z.strictObject({
      ...pageQuery,
      code: z.string().max(100).optional().describe('The beginning of the code.'),
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
      'In CSV and JSON Lines credits are positive, as in the ledger. In hledger and beancount debits are positive; these files declare accounts and commodities, and assert the balance of each account that moved at the end of each day.',
    query: z.strictObject({
      format: z.enum(['csv', 'jsonl', 'hledger', 'beancount']),
      ...range,
      ledgerAccountId: number.optional().describe('Only transactions of this account, each in full.'),
      detail: z
        .enum(['full', 'summary'])
        .default('full')
        .describe(
          'A summary has one transaction per day for all customers together, and covers the whole company.',
        ),
    }),
    produces: ['text/csv', 'application/jsonl', 'text/plain'],
    refusals: ['not_found', 'conflict'],
  }),
};
