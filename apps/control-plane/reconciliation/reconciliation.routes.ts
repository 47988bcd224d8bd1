import { z } from 'zod';
import { bankMapping, storedMapping } from '#finance/provider-reports/bank/bank-csv.js';
import { day, queryFlag, time, timeView, reasonText } from '#platform/http/fields.js';
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
import { routesFor } from '../http/route.js';

const bankAccountId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9 and -');
const dryRun = queryFlag('Only check the file. Nothing is imported.');

const range = {
  from: time.optional().meta({ description: 'Happened at or after this time.' }),
  to: time.optional().meta({ description: 'Happened before this time.' }),
  before: time.optional().meta({
    description:
      'As in the close of a period with this end: items dated before it, and items that no report covers yet.',
  }),
};

/** Both are needed; without one, the answer names it. */
const days = {
  from: day.optional().meta({
    description:
      "The first day of the requested report, in the file's own time zone. Required, because no file contains it.",
  }),
  to: day.optional().meta({ description: 'The day after the last day. Required, and not after today.' }),
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
      .meta({ description: 'Balance movements, payouts only, or bank lines.' }),
    covered: z.array(z.object({ from: timeView.nullable(), to: timeView })),
    gaps: z
      .array(z.object({ from: timeView, to: timeView }))
      .meta({ description: 'Times between reports that no report covers. Items there count as faults.' }),
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

const forFinance = routesFor(['finance'], 'Reconciliation');

export const reconciliationRoutes = {
  payments: forFinance.list(matchView)('reconcilePayments', `${RECONCILIATION}/payments`, {
    summary: 'Compare payments, refunds and disputes with provider reports, item by item.',
    description:
      'Compares in both directions, for times that a report covers: `missing_here` is reported by the provider but not booked, `missing_there` is booked but not reported.',
    query: matchQuery,
    csv: ['reconcilePaymentsCsv', 'Download the comparison with provider reports as CSV.'],
  }),
  paymentDays: forFinance.get('reconcilePaymentDays', `${RECONCILIATION}/payment-days`, {
    summary: 'Get totals of the comparison by day, provider, state and currency.',
    query: z.strictObject(matchQuery),
    answer: z.object({ days: z.array(matchDayView) }),
  }),
  payouts: forFinance.list(payoutView)('reconcilePayouts', `${RECONCILIATION}/payouts`, {
    summary: 'Compare payouts with their payments minus fees, refunds and disputes.',
    query: payoutQuery,
    csv: ['reconcilePayoutsCsv', 'Download the comparison of payouts as CSV.'],
  }),
  bank: forFinance.list(bankItemView)('reconcileBank', `${RECONCILIATION}/bank`, {
    summary: 'Compare bank lines with payouts and transfers, in both directions.',
    query: bankQuery,
    csv: ['reconcileBankCsv', 'Download the comparison of bank lines as CSV.'],
  }),
  reports: forFinance.list(runView)('listProviderReports', '/api/finance/provider-reports', {
    summary: 'List report imports, newest first.',
  }),
  coverage: forFinance.get('listReportCoverage', '/api/finance/provider-reports/coverage', {
    summary: 'Get the times that reports cover and the gaps, by provider and bank account.',
    answer: z.object({ items: z.array(coverageView) }),
  }),
  importStripe: forFinance.post('importStripeReport', '/api/finance/provider-reports/stripe', {
    summary: 'Import an itemized Stripe report as CSV, completely or not at all.',
    description:
      'Accepts the reports Balance change from activity, Payout reconciliation, and Payouts, with the columns in UTC. Known lines do not change. `from` and `to` say which days the report was requested for, because the file does not. A list of payouts includes earlier movements and so covers no time. Import larger files with the command line.',
    query: z.strictObject({ ...days, dryRun }),
    body: z.string(),
    consumes: 'text/csv',
    answer: reportView,
  }),
  fetch: forFinance.post('fetchProviderReports', '/api/finance/provider-reports/fetch', {
    summary: 'Fetch the latest provider reports now.',
  }),
  bankAccounts: forFinance.get('listBankAccounts', '/api/finance/bank-accounts', {
    summary: 'List bank accounts and how their files are read.',
    answer: z.object({ items: z.array(z.object({ id: z.string(), mapping: storedMapping })) }),
  }),
  saveBankAccount: forFinance.put('saveBankAccount', '/api/finance/bank-accounts/{bankAccountId}', {
    summary: 'Set how the files of a bank account are read.',
    params: z.strictObject({ bankAccountId }),
    body: z.strictObject({ mapping: bankMapping }),
  }),
  importBank: forFinance.post('importBankFile', '/api/finance/bank-accounts/{bankAccountId}/lines', {
    summary: 'Import a bank CSV file, completely or not at all.',
    params: z.strictObject({ bankAccountId }),
    query: z.strictObject({ ...days, dryRun }),
    body: z.string(),
    consumes: 'text/csv',
    answer: reportView,
    refusals: ['conflict'],
  }),
  matchBankLine: forFinance.post('matchBankLine', '/api/finance/bank-lines/{bankLineId}/match', {
    summary: 'Classify a bank line that could not be matched.',
    description:
      'A payout is given as `provider:id`; a top-up, refund or suspense item by its ID. A suspense item without a subject is created from the line and can be credited from there. `none` means that the line is not ours.',
    params: z.strictObject({ bankLineId: number }),
    body: z.strictObject({ kind: bankSubject, subject: z.string().max(250).optional(), note: reasonText }),
    refusals: ['second_person_required', 'conflict'],
  }),
  undoBankMatch: forFinance.post('undoBankMatch', '/api/finance/bank-lines/{bankLineId}/undo', {
    summary: 'Undo the classification of a line and reverse its posting exactly.',
    params: z.strictObject({ bankLineId: number }),
    body: z.strictObject({ note: reasonText }),
    refusals: ['second_person_required', 'conflict'],
  }),
};
