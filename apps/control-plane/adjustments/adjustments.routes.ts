import { z } from 'zod';
import {
  creditAmount,
  amountView,
  id,
  pageOf,
  pageQuery,
  requestIdField,
  time,
  reasonText as note,
} from '#platform/http/fields.js';
import {
  adjustmentView,
  adjustmentReason,
  debtorView,
  writeOffView,
} from '#finance/adjustments/adjustments.view.js';
import { routesFor } from '../http/route.js';

const state = z.enum(['done', 'pending', 'rejected']);
const approvalId = z.string().nullable().describe('The approval that a second person has to give.');
const adjusted = z
  .object({ state, adjustment: adjustmentView.nullable(), approvalId })
  .meta({ id: 'AdjustmentAnswer' });
const writtenOff = z
  .object({ state, writeOff: writeOffView.nullable(), approvalId })
  .meta({ id: 'WriteOffAnswer' });

const signed = z
  .string()
  .regex(/^-?\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string with at most 9 decimals, such as "-0.02"')
  .refine((text) => /[1-9]/.test(text), 'must not be 0')
  .meta({
    description: 'Credits. Positive amounts add credits, negative amounts remove them.',
    examples: ['-0.02'],
  });

const filter = {
  accountId: id.optional(),
  ticketId: id.optional(),
  reason: adjustmentReason.optional(),
  from: time.optional().describe('Recorded at or after this time.'),
  to: time.optional().describe('Recorded before this time.'),
};

const forFinance = routesFor(['finance'], 'Adjustments');

export const adjustmentRoutes = {
  list: forFinance.list(adjustmentView)('listAdjustments', '/api/finance/adjustments', {
    summary: 'List adjustments, newest first.',
    query: filter,
    csv: ['exportAdjustments', 'Download adjustments as CSV.'],
  }),
  adjust: forFinance.post('adjustAccount', '/api/finance/adjustments', {
    summary: 'Add or remove credits of an account, with a ticket.',
    description:
      'Adjustments above the daily limit for one person wait for a second person, as do all adjustments of your own account. An adjustment cannot be edited: reverse it and make a new one.',
    confirms: true,
    body: z.strictObject({
      accountId: id,
      ticketId: id,
      amount: signed,
      reason: adjustmentReason,
      note,
      requestId: requestIdField,
    }),
    answer: adjusted,
    refusals: ['second_person_required', 'conflict'],
  }),
  reverse: forFinance.post('reverseAdjustment', '/api/finance/adjustments/{adjustmentId}/reverse', {
    summary: 'Reverse an adjustment completely, once.',
    confirms: true,
    body: z.strictObject({ note, requestId: requestIdField }),
    answer: adjusted,
    refusals: ['second_person_required', 'conflict'],
  }),
  writeOffs: forFinance.list(writeOffView)('listWriteOffs', '/api/finance/write-offs', {
    summary: 'List write-offs and their reversals, newest first.',
    query: { accountId: id.optional() },
    csv: ['exportWriteOffs', 'Download write-offs as CSV.'],
  }),
  writeOff: forFinance.post('writeOffDebt', '/api/finance/write-offs', {
    summary: 'Write off the debt of an account, or part of it, once a month.',
    description:
      'The account is unfrozen once its debt is 0. The limit for one person is shared with adjustments.',
    confirms: true,
    body: z.strictObject({
      accountId: id,
      ticketId: id,
      amount: creditAmount
        .refine((value) => value > 0n, 'must be above 0')
        .optional()
        .describe('Omit to write off the whole debt.'),
      note,
      requestId: requestIdField,
    }),
    answer: writtenOff,
    refusals: ['second_person_required', 'conflict'],
  }),
  reverseWriteOff: forFinance.post('reverseWriteOff', '/api/finance/write-offs/{writeOffId}/reverse', {
    summary: 'Reverse a write-off completely, once, which restores the debt.',
    description:
      'The account is frozen again if its balance falls below 0. The limit for one person is shared with adjustments.',
    confirms: true,
    body: z.strictObject({ note, requestId: requestIdField }),
    answer: writtenOff,
    refusals: ['second_person_required', 'conflict'],
  }),
  debts: forFinance.get('reportDebts', '/api/finance/reports/debts', {
    summary: 'List accounts that are in debt or frozen, with amount, start and reason.',
    query: z.strictObject(pageQuery),
    answer: pageOf(debtorView).extend({
      accounts: z.int(),
      frozen: z.int(),
      debt: amountView,
      owedRewards: amountView.describe('Includes accounts that are not frozen.'),
    }),
    csv: ['exportDebts', 'Download accounts in debt as CSV.'],
  }),
};
