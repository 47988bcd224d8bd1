import { z } from 'zod';
import { requestIdField, timeView, reasonText } from '#platform/http/fields.js';
import { currencyView, paymentView } from '#payments/payment.fields.js';
import { reportingProvider } from '#finance/provider-reports/reconciliation.view.js';
import { routesFor } from '../http/route.js';

const lineView = z
  .object({
    provider: reportingProvider,
    lineId: z.string(),
    type: z.string(),
    amount: paymentView,
    fee: paymentView,
    net: paymentView,
    currency: currencyView,
    happenedAt: timeView,
    availableOn: z.string().nullable(),
    subjectId: z.string(),
    paymentId: z.string().nullable(),
    payoutId: z.string().nullable(),
    description: z.string(),
    reportId: z.string(),
    postings: z.array(z.object({ kind: z.string(), transactionId: z.string() })),
    changes: z
      .array(
        z.object({ reportId: z.string(), recordedAt: timeView, content: z.record(z.string(), z.unknown()) }),
      )
      .meta({ description: 'Later versions of the line, from reports that contradict it.' }),
    acceptances: z
      .array(
        z.object({
          reason: z.string(),
          requestedBy: z.string(),
          approvedBy: z.string().nullable(),
          recordedAt: timeView,
        }),
      )
      .meta({ description: 'Who accepted the line.' }),
  })
  .meta({ id: 'ProviderLine' });

const lineParams = z.strictObject({ provider: reportingProvider, lineId: z.string().min(1).max(200) });

const forFinance = routesFor(['finance'], 'Reconciliation');

export const lineRoutes = {
  line: forFinance.get('readProviderLine', '/api/finance/provider-lines/{provider}/{lineId}', {
    summary: 'Get a report line with its postings and later versions.',
    params: lineParams,
    answer: lineView,
  }),
  bookLine: forFinance.post('bookProviderLine', '/api/finance/provider-lines/{provider}/{lineId}/book', {
    summary: 'Book a missing payment, refund or dispute from its report line.',
    description:
      'Has the same effect as an event from the provider: payments and refunds go to suspense, where they can be credited or returned; a dispute takes back what was credited, and one that was won restores it. If a dispute moves more credits than the adjustment limit, a second person must approve it.',
    confirms: true,
    params: lineParams,
    body: z.strictObject({ note: reasonText }),
    answer: z.object({
      state: z.enum(['applied', 'ignored', 'suspense', 'pending']),
      detail: z.string(),
      approvalId: z.string().nullable(),
    }),
    refusals: ['second_person_required', 'conflict'],
  }),
  acceptLine: forFinance.post(
    'acceptProviderLine',
    '/api/finance/provider-lines/{provider}/{lineId}/accept',
    {
      summary: 'Accept a line that a later report contradicts, or a payout without lines.',
      description:
        'The accepted item no longer counts as a difference until a report contradicts it again. Amounts above the adjustment limit need the approval of a second person.',
      params: lineParams,
      body: z.strictObject({ reason: reasonText, requestId: requestIdField }),
      answer: z.object({
        state: z.enum(['done', 'pending', 'rejected']),
        approvalId: z.string().nullable(),
      }),
      refusals: ['second_person_required', 'conflict'],
    },
  ),
};
