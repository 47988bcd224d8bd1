import { z } from 'zod';
import { requestIdField, timeView } from '#platform/http/fields.js';
import { currencyView, paymentView, reasonText } from '#payments/payment.fields.js';
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
      .meta({ description: 'What later reports said of it instead.' }),
    acceptances: z
      .array(
        z.object({
          reason: z.string(),
          requestedBy: z.string(),
          approvedBy: z.string().nullable(),
          recordedAt: timeView,
        }),
      )
      .meta({ description: 'Who accepted that.' }),
  })
  .meta({ id: 'ProviderLine' });

const lineParams = z.strictObject({ provider: reportingProvider, lineId: z.string().min(1).max(200) });

const forFinance = routesFor(['finance'], 'Reconciliation');

/** Lines of reports. */
export const lineRoutes = {
  line: forFinance.get('readProviderLine', '/api/finance/provider-lines/{provider}/{lineId}', {
    summary: 'Get a report line with its postings and later versions.',
    params: lineParams,
    answer: lineView,
  }),
  bookLine: forFinance.post('bookProviderLine', '/api/finance/provider-lines/{provider}/{lineId}/book', {
    summary: 'Book a missing payment, refund or dispute from its report line.',
    description:
      'As if the provider had reported it when it happened: a payment or refund goes to suspense, to be credited or returned from there; a dispute takes back what was credited.',
    confirms: true,
    params: lineParams,
    body: z.strictObject({ note: reasonText }),
    answer: z.object({ state: z.enum(['applied', 'ignored', 'suspense', 'waiting']), detail: z.string() }),
    refusals: ['second_person_required', 'conflict'],
  }),
  acceptLine: forFinance.post(
    'acceptProviderLine',
    '/api/finance/provider-lines/{provider}/{lineId}/accept',
    {
      summary: 'Accept a line that a later report contradicts, or a payout without lines.',
      description:
        'Its item is then accepted and no longer counts, until a report contradicts it again. Above the adjustment limit it needs the approval of a second person.',
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
