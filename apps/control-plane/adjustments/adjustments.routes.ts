import { z } from 'zod';
import { amount, amountView, id, pageOf, pageQuery, requestId, time } from '#platform/http/fields.js';
import { reasonText as note } from '#payments/payment.fields.js';
import { adjustmentView, reason, debtorView, writeOffView } from '#finance/adjustments/adjustments.view.js';
import { route } from '../http/route.js';

const FINANCE = ['finance'] as const;
const tag = 'Adjustments';
const state = z.enum(['done', 'pending', 'rejected']);
const approvalId = z.string().nullable().meta({ description: 'What a second person decides.' });
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
  .meta({ description: 'USD of credit; positive is for the customer.', examples: ['-0.02'] });

const filter = {
  accountId: id.optional(),
  ticketId: id.optional(),
  reason: reason.optional(),
  from: time.optional().meta({ description: 'Recorded not before this time.' }),
  to: time.optional().meta({ description: 'Recorded before this time.' }),
};
export const adjustmentRoutes = {
  list: route({
    id: 'listAdjustments',
    method: 'GET',
    path: '/api/finance/adjustments',
    tag,
    summary: 'The register of adjustments, newest first.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, ...filter }),
    answer: pageOf(adjustmentView),
  }),
  file: route({
    id: 'exportAdjustments',
    method: 'GET',
    path: '/api/finance/adjustments.csv',
    tag,
    summary: 'The register as a file.',
    access: FINANCE,
    query: z.strictObject(filter),
    produces: ['text/csv'],
  }),
  adjust: route({
    id: 'adjustAccount',
    method: 'POST',
    path: '/api/finance/adjustments',
    tag,
    summary: 'Give an account credit, or take some, because of a ticket.',
    description:
      'More than one person may do alone for an account in a day waits for a second one, as does anything about your own account. It is never edited: reverse it and adjust again.',
    access: FINANCE,
    confirms: true,
    body: z.strictObject({ accountId: id, ticketId: id, amount: signed, reason, note, requestId }),
    answer: adjusted,
    refusals: ['second_person_required', 'conflict'],
  }),
  reverse: route({
    id: 'reverseAdjustment',
    method: 'POST',
    path: '/api/finance/adjustments/{adjustmentId}/reverse',
    tag,
    summary: 'Reverse an adjustment whole, once, by its opposite.',
    access: FINANCE,
    confirms: true,
    params: z.strictObject({ adjustmentId: id }),
    body: z.strictObject({ note, requestId }),
    answer: adjusted,
    refusals: ['second_person_required', 'conflict', 'not_found'],
  }),
  writeOffs: route({
    id: 'listWriteOffs',
    method: 'GET',
    path: '/api/finance/write-offs',
    tag,
    summary: 'Debts that were given up, and reversals of that, newest first.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, accountId: id.optional() }),
    answer: pageOf(writeOffView),
  }),
  writeOffsFile: route({
    id: 'exportWriteOffs',
    method: 'GET',
    path: '/api/finance/write-offs.csv',
    tag,
    summary: 'The same as a file.',
    access: FINANCE,
    query: z.strictObject({ accountId: id.optional() }),
    produces: ['text/csv'],
  }),
  writeOff: route({
    id: 'writeOffDebt',
    method: 'POST',
    path: '/api/finance/write-offs',
    tag,
    summary: 'Give up the debt of an account, or a part of it; once a month.',
    description: 'At 0 the freeze of the debt ends. The limit for one person is that of adjustments.',
    access: FINANCE,
    confirms: true,
    body: z.strictObject({
      accountId: id,
      ticketId: id,
      amount: amount
        .refine((value) => value > 0n, 'must be above 0')
        .optional()
        .meta({ description: 'The whole debt, if it is left out.' }),
      note,
      requestId,
    }),
    answer: writtenOff,
    refusals: ['second_person_required', 'conflict'],
  }),
  reverseWriteOff: route({
    id: 'reverseWriteOff',
    method: 'POST',
    path: '/api/finance/write-offs/{writeOffId}/reverse',
    tag,
    summary: 'Reverse a write-off whole, once, by its opposite: the debt comes back.',
    description: 'Below 0 the account is frozen again. The limit for one person is that of adjustments.',
    access: FINANCE,
    confirms: true,
    params: z.strictObject({ writeOffId: id }),
    body: z.strictObject({ note, requestId }),
    answer: writtenOff,
    refusals: ['second_person_required', 'conflict', 'not_found'],
  }),
  debts: route({
    id: 'reportDebts',
    method: 'GET',
    path: '/api/finance/reports/debts',
    tag,
    summary: 'Accounts that owe or are frozen: how much, since when, and why.',
    access: FINANCE,
    query: z.strictObject(pageQuery),
    answer: pageOf(debtorView).extend({
      accounts: z.number().int(),
      frozen: z.number().int(),
      debt: amountView,
      owedRewards: amountView.meta({ description: 'Of all accounts, also of those that are not frozen.' }),
    }),
  }),
  debtsFile: route({
    id: 'exportDebts',
    method: 'GET',
    path: '/api/finance/reports/debts.csv',
    tag,
    summary: 'The same as a file.',
    access: FINANCE,
    produces: ['text/csv'],
  }),
};
