import { z } from 'zod';
import { bankMapping } from '#finance/provider-reports/bank/bank-csv.js';
import { day, pageOf, pageQuery, time, timeView } from '#platform/http/fields.js';
import { reasonText } from '#payments/payment.fields.js';
import {
  bankItemView,
  bankState,
  bankSubject,
  matchDayView,
  reportingProvider,
  matchState,
  number,
  matchView,
  payoutView,
  payoutState,
  reportView,
} from '#finance/provider-reports/reconciliation.view.js';
import { route } from '../http/route.js';

const FINANCE = ['finance'] as const;
const tag = 'Reconciliation';
const bankAccountId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9 and -');
const flag = z.enum(['true', 'false']).default('false');

const range = {
  from: time.optional().meta({ description: 'Happened not before this time.' }),
  to: time.optional().meta({ description: 'Happened before this time.' }),
  before: time.optional().meta({
    description:
      'As for the close of a period that ends then: what is dated before it, and what no report covers yet.',
  }),
};

/** Both are needed; without one, the answer names it. */
const days = {
  from: day.optional().meta({
    description:
      'The first day that the file was asked for, in its own zone. Required: no file says it itself.',
  }),
  to: day.optional().meta({ description: 'The day after the last. Required, and not after today.' }),
};
const runView = reportView
  .extend({
    id: z.string(),
    provider: z.enum(['stripe', 'sandbox', 'bank']),
    bankAccountId: z.string().nullable(),
    source: z.enum(['csv', 'api', 'table']),
    sha256: z.string().nullable(),
    actor: z.string(),
    startedAt: timeView,
    finishedAt: timeView.nullable(),
  })
  .meta({ id: 'ReconciliationRun' });

const coverageView = z
  .object({
    provider: z.enum(['stripe', 'sandbox', 'bank']),
    bankAccountId: z.string().nullable(),
    of: z
      .enum(['activity', 'payouts', 'lines'])
      .meta({ description: 'Movements of the balance, payouts alone, or lines of the bank.' }),
    covered: z.array(z.object({ from: timeView.nullable(), to: timeView })),
    gaps: z
      .array(z.object({ from: timeView, to: timeView }))
      .meta({ description: 'Times between them that no report holds: what lies there counts as a fault.' }),
  })
  .meta({ id: 'ReportCoverage' });

const RECONCILIATION = '/api/finance/reconciliation';
const matchQuery = {
  ...range,
  provider: reportingProvider.optional(),
  state: matchState.optional(),
};
const payoutQuery = { ...range, provider: reportingProvider.optional(), state: payoutState.optional() };
const bankQuery = { ...range, bankAccountId: bankAccountId.optional(), state: bankState.optional() };

export const reconciliationRoutes = {
  payments: route({
    id: 'reconcilePayments',
    method: 'GET',
    path: `${RECONCILIATION}/payments`,
    tag,
    summary: 'Payments, refunds and disputes against the reports of their providers, item by item.',
    description:
      'In both directions: missing here is what the provider knows and we do not, missing there what we booked and the provider does not know, for times that a report covers.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, ...matchQuery }),
    answer: pageOf(matchView),
  }),
  paymentsCsv: route({
    id: 'reconcilePaymentsCsv',
    method: 'GET',
    path: `${RECONCILIATION}/payments.csv`,
    tag,
    summary: 'The same as a CSV file.',
    access: FINANCE,
    query: z.strictObject(matchQuery),
    produces: ['text/csv'],
  }),
  paymentDays: route({
    id: 'reconcilePaymentDays',
    method: 'GET',
    path: `${RECONCILIATION}/payment-days`,
    tag,
    summary: 'The same, counted and added up by day, provider, state and currency.',
    access: FINANCE,
    query: z.strictObject(matchQuery),
    answer: z.object({ days: z.array(matchDayView) }),
  }),
  payouts: route({
    id: 'reconcilePayouts',
    method: 'GET',
    path: `${RECONCILIATION}/payouts`,
    tag,
    summary: 'Payouts against what they are made of: payments less fees, refunds and disputes.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, ...payoutQuery }),
    answer: pageOf(payoutView),
  }),
  payoutsCsv: route({
    id: 'reconcilePayoutsCsv',
    method: 'GET',
    path: `${RECONCILIATION}/payouts.csv`,
    tag,
    summary: 'The same as a CSV file.',
    access: FINANCE,
    query: z.strictObject(payoutQuery),
    produces: ['text/csv'],
  }),
  bank: route({
    id: 'reconcileBank',
    method: 'GET',
    path: `${RECONCILIATION}/bank`,
    tag,
    summary: 'Lines at the bank against payouts and transfers, in both directions.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, ...bankQuery }),
    answer: pageOf(bankItemView),
  }),
  bankCsv: route({
    id: 'reconcileBankCsv',
    method: 'GET',
    path: `${RECONCILIATION}/bank.csv`,
    tag,
    summary: 'The same as a CSV file.',
    access: FINANCE,
    query: z.strictObject(bankQuery),
    produces: ['text/csv'],
  }),
  reports: route({
    id: 'listProviderReports',
    method: 'GET',
    path: '/api/finance/provider-reports',
    tag,
    summary: 'Imports of reports, newest first.',
    access: FINANCE,
    query: z.strictObject(pageQuery),
    answer: pageOf(runView),
  }),
  coverage: route({
    id: 'listReportCoverage',
    method: 'GET',
    path: '/api/finance/provider-reports/coverage',
    tag,
    summary: 'For which times there are reports, by provider and bank account, and the gaps between them.',
    access: FINANCE,
    answer: z.object({ items: z.array(coverageView) }),
  }),
  importStripe: route({
    id: 'importStripeReport',
    method: 'POST',
    path: '/api/finance/provider-reports/stripe',
    tag,
    summary: 'Import an itemised report of Stripe as CSV: all of it or nothing.',
    description:
      'Balance change from activity, Payout reconciliation, or Payouts, with the columns in UTC. Known lines do not change. The file does not say for which days it was asked, so from and to do; a list of payouts, which tells of movements from before its days, covers no time. A larger file is imported by the command line.',
    access: FINANCE,
    query: z.strictObject({ ...days, dryRun: flag }),
    body: z.string(),
    consumes: 'text/csv',
    answer: reportView,
  }),
  fetch: route({
    id: 'fetchProviderReports',
    method: 'POST',
    path: '/api/finance/provider-reports/fetch',
    tag,
    summary: 'Ask the providers for their newest movements now, and not only on schedule.',
    access: FINANCE,
  }),
  bankAccounts: route({
    id: 'listBankAccounts',
    method: 'GET',
    path: '/api/finance/bank-accounts',
    tag,
    summary: 'Accounts at banks, and how their files are read.',
    access: FINANCE,
    answer: z.object({ items: z.array(z.object({ id: z.string(), mapping: bankMapping })) }),
  }),
  saveBankAccount: route({
    id: 'saveBankAccount',
    method: 'PUT',
    path: '/api/finance/bank-accounts/{bankAccountId}',
    tag,
    summary: 'Say how the files of a bank account are read.',
    access: FINANCE,
    params: z.strictObject({ bankAccountId }),
    body: z.strictObject({ mapping: bankMapping }),
  }),
  importBank: route({
    id: 'importBankFile',
    method: 'POST',
    path: '/api/finance/bank-accounts/{bankAccountId}/lines',
    tag,
    summary: 'Import a CSV file of a bank: all of it or nothing.',
    access: FINANCE,
    params: z.strictObject({ bankAccountId }),
    query: z.strictObject({ ...days, dryRun: flag }),
    body: z.string(),
    consumes: 'text/csv',
    answer: reportView,
    refusals: ['conflict'],
  }),
  matchBankLine: route({
    id: 'matchBankLine',
    method: 'POST',
    path: '/api/finance/bank-lines/{bankLineId}/match',
    tag,
    summary: 'Classify a bank line that could not be matched.',
    description:
      'A payout as `provider:id`, a top-up, refund or suspense item by its id; a suspense item without a subject is made of the line, to be credited from there; none is nothing of ours.',
    access: FINANCE,
    params: z.strictObject({ bankLineId: number }),
    body: z.strictObject({ kind: bankSubject, subject: z.string().max(250).optional(), note: reasonText }),
    refusals: ['second_person_required', 'conflict'],
  }),
  undoBankMatch: route({
    id: 'undoBankMatch',
    method: 'POST',
    path: '/api/finance/bank-lines/{bankLineId}/undo',
    tag,
    summary: 'Undo what was said of a line, with the exact reversal of its posting.',
    access: FINANCE,
    params: z.strictObject({ bankLineId: number }),
    body: z.strictObject({ note: reasonText }),
    refusals: ['second_person_required', 'conflict'],
  }),
};
