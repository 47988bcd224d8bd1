import { z } from 'zod';
import { creditAmount, amountView, day, id, reasonText } from '#platform/http/fields.js';
import {
  disputeView,
  eventState,
  eventView,
  listedRefundView,
  refundState,
  suspenseState,
  suspenseView,
  topupRefundView,
  topupView,
} from '#payments/finance.view.js';
import { payment, reference, financeRequestId } from '#payments/payment.fields.js';
import { routesFor } from '../http/route.js';

const approvalId = z.string().nullable().meta({
  description:
    'Set if the amount is above the limit: nothing has been done, and another person must approve it first.',
});

const creditedView = z
  .object({
    topup: z.object({ id: z.string(), credits: amountView, balance: amountView }).nullable(),
    approvalId,
  })
  .meta({ id: 'CreditedTransfer' });

const ofAccount = { accountId: id.optional() };

const forFinance = routesFor(['finance'], 'Finance');

export const financeRoutes = {
  topups: forFinance.list(topupView)('listPayments', '/api/finance/topups', {
    summary: 'List credited payments.',
    query: ofAccount,
  }),
  record: forFinance.post('recordTransfer', '/api/finance/topups', {
    summary: 'Record a bank transfer, once per reference.',
    description:
      "A transfer for an order must match its amount. A transfer for an account buys credits at the account's rate.",
    confirms: true,
    body: z
      .strictObject({
        accountId: id.optional(),
        orderId: id.optional(),
        paymentId: reference.meta({ description: "The bank's reference." }),
        paid: payment,
        currency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO code such as USD'),
        valueDate: day.optional().meta({
          description:
            'The UTC day on which the bank received it. Default: today. If the period is closed, it is posted now as a late posting.',
        }),
        reason: reasonText,
        requestId: financeRequestId,
      })
      .refine(({ accountId, orderId }) => (accountId === undefined) !== (orderId === undefined), {
        message: 'give either accountId or orderId',
        path: ['accountId'],
      }),
    answer: creditedView,
    refusals: ['second_person_required', 'conflict'],
  }),
  refund: forFinance.post('refundTopup', '/api/finance/topups/{topupId}/refunds', {
    summary: 'Refund unused credits of a top-up, or part of them.',
    confirms: true,
    body: z.strictObject({
      credits: creditAmount.optional().meta({ description: 'Omit to refund all unused credits.' }),
      reason: reasonText,
      requestId: financeRequestId,
    }),
    answer: z.object({ refund: topupRefundView.nullable(), approvalId }),
    refusals: ['second_person_required', 'conflict'],
  }),
  refunds: forFinance.list(listedRefundView)('listTopupRefunds', '/api/finance/topup-refunds', {
    summary: 'List refunds of top-ups and their state.',
    query: { ...ofAccount, state: refundState.optional() },
  }),
  confirmRefund: forFinance.post('confirmTopupRefund', '/api/finance/topup-refunds/{refundId}/confirm', {
    summary: 'Record the outcome of a refund by bank transfer.',
    confirms: true,
    body: z.strictObject({
      outcome: z.enum(['succeeded', 'failed']),
      reference: reference.optional(),
      note: reasonText,
    }),
    answer: topupRefundView,
    refusals: ['second_person_required', 'conflict'],
  }),
  suspense: forFinance.list(suspenseView)('listSuspense', '/api/finance/suspense', {
    summary: 'List money in suspense: wrong amount or currency, paid twice, no order.',
    query: { state: suspenseState.optional() },
  }),
  creditSuspense: forFinance.post('creditSuspense', '/api/finance/suspense/{itemId}/credit', {
    summary: "Credit an item to the intended account at the account's rate.",
    confirms: true,
    body: z.strictObject({ accountId: id, note: reasonText, requestId: financeRequestId }),
    answer: creditedView,
    refusals: ['second_person_required', 'conflict'],
  }),
  returnSuspense: forFinance.post('returnSuspense', '/api/finance/suspense/{itemId}/return', {
    summary: 'Book an item as returned.',
    confirms: true,
    body: z.strictObject({ note: reasonText }),
    answer: z.object({ approvalId }),
    refusals: ['second_person_required', 'conflict'],
  }),
  expenseSuspense: forFinance.post('expenseSuspense', '/api/finance/suspense/{itemId}/expense', {
    summary: 'Book an item that is lost or unexplained as a provider cost.',
    confirms: true,
    body: z.strictObject({ note: reasonText }),
    answer: z.object({ approvalId }),
    refusals: ['second_person_required', 'conflict'],
  }),
  events: forFinance.list(eventView)('listPaymentEvents', '/api/finance/payment-events', {
    summary: 'List provider events and their results.',
    query: { state: eventState.optional() },
  }),
  disputes: forFinance.list(disputeView)('listDisputes', '/api/finance/disputes', {
    summary: 'List payments disputed by customers.',
    query: ofAccount,
  }),
};
