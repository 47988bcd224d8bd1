import { z } from 'zod';
import { creditAmount, amountView, timeView } from '#platform/http/fields.js';
import {
  currencyView,
  payment,
  paymentView,
  financeRequestId,
  providerName,
} from '#payments/payment.fields.js';
import { orderStates } from '#payments/topup-order.entity.js';
import { topupRates } from '#topup/conversion.js';
import { routesFor } from '../http/route.js';

const rate = z.enum(topupRates).meta({ description: 'The price of one credit in the payment currency.' });

export const orderView = z
  .object({
    id: z.string(),
    state: z.enum(orderStates),
    credits: amountView,
    pay: paymentView,
    currency: currencyView,
    rate,
    provider: providerName,
    checkoutUrl: z.string().nullable().meta({
      description:
        'The payment page while the order is open. May be relative to the console. Null for bank transfers.',
    }),
    instructions: z.string().nullable().meta({ description: 'How to pay if there is no payment page.' }),
    topupId: z.string().nullable(),
    createdAt: timeView,
    expiresAt: timeView,
    paidAt: timeView.nullable(),
  })
  .meta({ id: 'Order' });

const reversal = { credits: amountView, pay: paymentView, at: timeView, endedAt: timeView.nullable() };

const orderWithReversals = orderView
  .extend({
    refunds: z
      .array(z.object({ ...reversal, state: z.enum(['pending', 'succeeded', 'failed']) }))
      .meta({ description: 'Completed and pending refunds.' }),
    disputes: z.array(z.object({ ...reversal, state: z.enum(['open', 'won', 'lost']) })).meta({
      description: "Disputes at the payer's bank that took something, with the credits taken for each.",
    }),
  })
  .meta({ id: 'OrderWithReversals' });

const wish = {
  credits: creditAmount.optional().meta({ description: 'The credits to buy. Send this or `pay`.' }),
  pay: payment.optional().meta({ description: 'The amount to pay. Send this or `credits`.' }),
};

function isOneWish(value: { credits?: unknown; pay?: unknown }): boolean {
  return (value.credits === undefined) !== (value.pay === undefined);
}
const ONE_WISH = { message: 'give either credits or pay', path: ['credits'] };

const forUsers = routesFor(['user'], 'Top-ups');
const forAll = routesFor('public', 'Payments');

export const topupRoutes = {
  quote: forUsers.get('quoteTopup', '/api/topups/quote', {
    summary: 'Quote a top-up at the rate of the account.',
    query: z.strictObject(wish).refine(isOneWish, ONE_WISH),
    answer: z.object({
      credits: amountView,
      pay: paymentView,
      currency: currencyView,
      rate,
      providers: z.array(providerName),
    }),
  }),
  create: forUsers.post('createTopup', '/api/topups', {
    summary: 'Order credits and get the payment URL.',
    description: 'The minimum is one credit. Credits are added once the provider reports the payment.',
    body: z
      .strictObject({ ...wish, provider: providerName, requestId: financeRequestId })
      .refine(isOneWish, ONE_WISH),
    answer: orderView,
    status: 201,
    refusals: ['conflict', 'too_many_attempts', 'payment_provider_failed'],
  }),
  list: forUsers.list(orderView)('listTopups', '/api/topups', {
    summary: 'List your orders.',
  }),
  show: forUsers.get('getTopup', '/api/topups/{orderId}', {
    summary: 'Get an order with its refunds and disputes.',
    answer: orderWithReversals,
  }),
  cancel: forUsers.post('cancelTopup', '/api/topups/{orderId}/cancel', {
    summary: 'Cancel an open order. If it has been paid in the meantime, it is credited.',
    answer: orderView,
    refusals: ['payment_provider_failed'],
  }),
  event: forAll.post('receivePaymentEvent', '/api/payments/events/{provider}', {
    summary: 'Receive signed events from payment providers. An event is acknowledged once it is committed.',
    params: z.strictObject({ provider: z.string().max(20) }),
    body: z.unknown(),
    keepsBytes: true,
    answer: z.object({ received: z.literal(true) }),
    refusals: ['invalid_request'],
    guardsAgainstForgery: false,
  }),
};
