import { z } from 'zod';
import { pageOf, pageQuery, requestId, time, timeView } from '../http/fields.js';
import { route } from '../http/route.js';
import { reason } from '../payments/fields.js';

const FINANCE = ['finance'] as const;
const tag = 'Periods';

const periodId = z.string().regex(/^\d{1,18}$/, 'must be a whole number');
const params = z.strictObject({ periodId });

export const checklistItemView = z.object({
  id: z.string().meta({ examples: ['zero-sums', 'control:payments'] }),
  title: z.string(),
  state: z.enum(['ok', 'failed', 'waived']),
  count: z.number().int().meta({ description: 'What is wrong: 0 when nothing is.' }),
  message: z.string(),
  waivable: z.boolean().meta({ description: 'Whether one may close in spite of it, saying why.' }),
  control: z.string().nullable().meta({ description: 'The control that names each thing.' }),
  reason: z.string().nullable().meta({ description: 'Why it was waived.' }),
  waiverId: z.string().nullable().meta({ description: 'The waiver that two people agreed on.' }),
});

const usedWaiver = z.object({
  item: z.string(),
  reason: z.string(),
  count: z.number().int().nullable(),
  requestedBy: z.string().nullable(),
  approvedBy: z.string().nullable(),
});

const GRACE = 'Work that was younger was taken for in flight; as billing is configured.';
const grace = z.number().meta({ description: GRACE, examples: [300] });

export const periodView = z.object({
  id: z.string(),
  startsAt: timeView.nullable().meta({ description: 'Null: from the beginning.' }),
  endsAt: timeView.meta({ description: 'The first instant that is outside.' }),
  state: z.enum(['closing', 'closed', 'abandoned']),
  progress: z.string().nullable(),
  recordedBefore: timeView.nullable().meta({
    description:
      'The trial balance by effective time of `endsAt`, as recorded before this, is the same for ever.',
  }),
  checklist: z.array(checklistItemView),
  balancesHash: z.string().nullable().meta({
    description:
      'sha256 of lines of code, commodity and balance in whole units of the ledger, apart by tabs, by code.',
  }),
  abandonedReason: z.string().nullable(),
  waivers: z.array(usedWaiver),
  graceSeconds: grace.nullable().meta({ description: `${GRACE} Null: it was closed before that was kept.` }),
  note: z.string().nullable(),
  closedBy: z.string().meta({ description: 'As `user:{id}`, or an operator of the command line.' }),
  begunAt: timeView,
  endedAt: timeView.nullable(),
  latePostings: z.number().int().meta({ description: 'Facts of this period that came after its close.' }),
});

const money = z.string().meta({ description: 'Of the unit; positive is a credit.', examples: ['-0.02'] });

const balanceView = z.object({
  id: z.string(),
  code: z.string(),
  kind: z.enum(['liability', 'asset', 'revenue', 'contra', 'expense', 'clearing']),
  commodity: z.enum(['CRD', 'PAY', 'UPC']),
  unit: z.string(),
  accountId: z.string().nullable(),
  balance: money,
});

const end = time.meta({
  description: 'The first instant after the period; the beginning of a month of UTC is usual.',
  examples: ['2026-02-01T00:00:00Z'],
});

const waiver = {
  end: time.meta({ description: 'The end of the period that is to be closed.' }),
  item: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: 'Of the checklist, one that is `waivable`.', examples: ['control:suspense'] }),
  count: z.number().int().min(1).max(1_000_000_000).meta({
    description:
      'As the checklist counts it now. When the close counts more, or finds another one, the waiver does not hold.',
  }),
  reason,
};

export const waiverView = z.object({
  id: z.string(),
  end: timeView,
  item: z.string(),
  count: z.number().int(),
  findings: z.array(z.string()).nullable().meta({
    description: 'Exactly these may be left, each as `state subject`; null where there were more than 5,000.',
  }),
  reason: z.string(),
  requestedBy: z.string().meta({ description: 'As `user:{id}`.' }),
  approvedBy: z.string(),
  recordedAt: timeView,
});

export const periodRoutes = {
  list: route({
    id: 'listPeriods',
    method: 'GET',
    path: '/api/finance/periods',
    tag,
    summary: 'Periods that were closed, or tried, newest first.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, state: z.enum(['closing', 'closed', 'abandoned']).optional() }),
    answer: pageOf(periodView),
  }),
  show: route({
    id: 'getPeriod',
    method: 'GET',
    path: '/api/finance/periods/{periodId}',
    tag,
    summary: 'One of them, with its checklist and its trial balance.',
    access: FINANCE,
    params,
    answer: periodView.extend({ balances: z.array(balanceView) }),
  }),
  balances: route({
    id: 'exportPeriodBalances',
    method: 'GET',
    path: '/api/finance/periods/{periodId}/trial-balance.csv',
    tag,
    summary: 'The trial balance of a closed period as a file.',
    access: FINANCE,
    params,
    produces: ['text/csv'],
  }),
  late: route({
    id: 'listLatePostings',
    method: 'GET',
    path: '/api/finance/periods/{periodId}/late-postings',
    tag,
    summary: 'Facts of the period that came after its close: posted later, oldest first.',
    access: FINANCE,
    params,
    query: z.strictObject(pageQuery),
    answer: pageOf(
      z.object({
        transactionId: z.string(),
        kind: z.string(),
        reference: z.string(),
        accountId: z.string().nullable(),
        happenedAt: timeView,
        recordedAt: timeView,
      }),
    ),
  }),
  check: route({
    id: 'checkPeriod',
    method: 'POST',
    path: '/api/finance/periods/check',
    tag,
    summary: 'The checklist of a close, now. Nothing is changed.',
    access: FINANCE,
    body: z.strictObject({ end }),
    answer: z.object({
      at: timeView.nullable().meta({ description: 'Up to where the books were certain.' }),
      ok: z.boolean(),
      graceSeconds: grace,
      checklist: z.array(checklistItemView),
    }),
  }),
  waivers: route({
    id: 'listPeriodWaivers',
    method: 'GET',
    path: '/api/finance/periods/waivers',
    tag,
    summary: 'What two people agreed to leave for later, of the period that ends then.',
    access: FINANCE,
    query: z.strictObject({ end: time }),
    answer: z.object({ items: z.array(waiverView) }),
  }),
  waive: route({
    id: 'askPeriodWaiver',
    method: 'POST',
    path: '/api/finance/periods/waivers',
    tag,
    summary: 'Ask to close a period in spite of what an item of its checklist counts.',
    description:
      'Another person of finance agrees in the approvals. What means that the books contradict themselves cannot be waived by anybody.',
    access: FINANCE,
    body: z.strictObject({ ...waiver, requestId }),
    answer: z.object({ approvalId: z.string(), state: z.enum(['pending', 'approved', 'rejected']) }),
    refusals: ['conflict'],
  }),
  close: route({
    id: 'closePeriod',
    method: 'POST',
    path: '/api/finance/periods/close',
    tag,
    summary: 'Close the books up to an instant, for good.',
    description:
      'Runs the checklist; what is red, and was not waived by two people for this end, abandons the close, and the answer says what it was. From then on the database takes nothing that is effective inside: facts that come late are posted in the open period, with a link. A close of large books goes on after the answer: read the period until it is not `closing`.',
    access: FINANCE,
    body: z.strictObject({ end, note: reason.optional(), requestId }),
    answer: periodView,
    refusals: ['conflict'],
  }),
};
