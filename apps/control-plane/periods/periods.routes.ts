import { z } from 'zod';
import { lateView } from '#finance/periods/period.js';
import { requestIdField, time, timeView, reasonText } from '#platform/http/fields.js';
import { periodView, checklistItemView, grace, waiverView } from '#finance/periods/periods.view.js';
import { routesFor } from '../http/route.js';

const periodId = z.string().regex(/^\d{1,18}$/, 'must be a whole number');
const params = z.strictObject({ periodId });
const money = z
  .string()
  .meta({ description: 'In the unit of the balance. Positive is a credit.', examples: ['-0.02'] });

const balanceView = z
  .object({
    id: z.string(),
    code: z.string(),
    kind: z.enum(['liability', 'asset', 'revenue', 'contra', 'expense', 'clearing']),
    commodity: z.enum(['CRD', 'PAY', 'UPC']),
    unit: z.string(),
    accountId: z.string().nullable(),
    balance: money,
  })
  .meta({ id: 'PeriodBalance' });

const end = time.meta({
  description: 'The first instant after the period, usually the start of a UTC month.',
  examples: ['2026-02-01T00:00:00Z'],
});

const waiver = {
  end: time.describe('The end of the period to close.'),
  item: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: 'A `waivable` item of the checklist.', examples: ['control:suspense'] }),
  count: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .describe(
      'The current count in the checklist. If the close counts more, or finds a different one, the waiver does not apply.',
    ),
  reason: reasonText,
};

const forFinance = routesFor(['finance'], 'Periods');

export const periodRoutes = {
  list: forFinance.list(periodView)('listPeriods', '/api/finance/periods', {
    summary: 'List periods and attempts to close, newest first.',
    query: { state: z.enum(['closing', 'closed', 'abandoned']).optional() },
  }),
  show: forFinance.get('getPeriod', '/api/finance/periods/{periodId}', {
    summary: 'Get a period with its checklist and trial balance.',
    params,
    answer: periodView.extend({ balances: z.array(balanceView) }),
  }),
  balances: forFinance.csv('exportPeriodBalances', '/api/finance/periods/{periodId}/trial-balance.csv', {
    summary: 'Download the trial balance of a closed period as CSV.',
    params,
  }),
  late: forFinance.list(lateView)('listLatePostings', '/api/finance/periods/{periodId}/late-postings', {
    summary: 'List late postings of a period, oldest first.',
    params,
  }),
  check: forFinance.post('checkPeriod', '/api/finance/periods/check', {
    summary: 'Run the checklist of a close without changing anything.',
    body: z.strictObject({ end }),
    answer: z.object({
      at: timeView.nullable().describe('The books are final up to this time.'),
      ok: z.boolean(),
      graceSeconds: grace,
      checklist: z.array(checklistItemView),
    }),
  }),
  waivers: forFinance.get('listPeriodWaivers', '/api/finance/periods/waivers', {
    summary: 'List waivers for the period with this end.',
    query: z.strictObject({ end: time }),
    answer: z.object({ items: z.array(waiverView) }),
  }),
  waive: forFinance.post('askPeriodWaiver', '/api/finance/periods/waivers', {
    summary: 'Request a waiver for an item of the checklist.',
    description:
      'Another member of finance must approve it. Items that mean the books are inconsistent cannot be waived.',
    body: z.strictObject({ ...waiver, requestId: requestIdField }),
    answer: z.object({ approvalId: z.string(), state: z.enum(['pending', 'approved', 'rejected']) }),
    refusals: ['conflict'],
  }),
  close: forFinance.post('closePeriod', '/api/finance/periods/close', {
    summary: 'Close the books permanently up to an instant.',
    description:
      'Runs the checklist. A failed item that two people have not waived for this end abandons the close, and the answer names it. Once closed, the database accepts nothing effective within the period: late facts are posted in the open period, with a link. Closing large books continues after the answer: poll the period until its state is no longer `closing`.',
    body: z.strictObject({ end, note: reasonText.optional(), requestId: requestIdField }),
    answer: periodView,
    refusals: ['conflict'],
  }),
};
