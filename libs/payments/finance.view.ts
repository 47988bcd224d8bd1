import { z } from 'zod';
import { suspenseWhys } from '#ledger/postings/suspense.js';
import { amountView, timeView } from '#platform/http/fields.js';
import { topupRates } from '#topup/conversion.js';
import { currencyView, paymentView, providerName } from './payment.fields.js';

/** What finance reads of payments. */

const actor = z.string().nullable().meta({ description: '`user:{id}`.' });
export const topupView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    provider: providerName,
    paymentId: z.string(),
    orderId: z.string().nullable(),
    credits: amountView,
    paid: paymentView,
    currency: currencyView,
    rate: z.enum(topupRates),
    refunded: amountView,
    disputed: amountView,
    recordedAt: timeView,
  })
  .meta({ id: 'Topup' });

export const suspenseState = z.enum(['open', 'credited', 'returned', 'expensed']);
export const suspenseView = z
  .object({
    id: z.string(),
    provider: providerName,
    reference: z.string(),
    orderId: z.string().nullable(),
    paymentId: z
      .string()
      .nullable()
      .meta({ description: 'The payment of which a bank took it or the provider refunded it, if known.' }),
    amount: paymentView.meta({ description: 'Negative for outgoing money.' }),
    currency: currencyView,
    why: z.enum(suspenseWhys),
    state: suspenseState,
    clearedBy: actor,
    clearedAt: timeView.nullable(),
    note: z.string().nullable(),
    topupId: z.string().nullable(),
    createdAt: timeView,
    mayBecome: z.array(suspenseState.exclude(['open'])).meta({
      description:
        'Nothing if it has ended, or was taken from `paymentId`, which is still in suspense: returning that payment ends it, up to the amount paid.',
    }),
  })
  .meta({ id: 'SuspenseItem' });

export const eventState = z.enum(['applied', 'ignored', 'suspense', 'waiting']);
export const eventView = z
  .object({
    provider: providerName,
    eventId: z.string(),
    type: z.string(),
    state: eventState,
    detail: z.string(),
    paymentId: z.string().nullable(),
    orderId: z.string().nullable(),
    attempts: z.number(),
    receivedAt: timeView,
  })
  .meta({ id: 'PaymentEvent' });

export const refundState = z.enum(['pending', 'succeeded', 'failed']);
export const topupRefundView = z
  .object({
    id: z.string(),
    topupId: z.string(),
    accountId: z.string(),
    provider: providerName,
    credits: amountView,
    pay: paymentView,
    currency: currencyView,
    state: refundState,
    providerRefundId: z.string().nullable(),
    failure: z.string().nullable(),
  })
  .meta({ id: 'TopupRefund' });

export const listedRefundView = topupRefundView.extend({
  reason: z.string(),
  attempts: z.number(),
  createdAt: timeView,
  endedAt: timeView.nullable(),
});

export const disputeView = z
  .object({
    provider: providerName,
    disputeId: z.string(),
    topupId: z.string(),
    accountId: z.string(),
    amount: paymentView,
    currency: currencyView,
    credits: amountView,
    state: z.enum(['open', 'won', 'lost']),
    openedAt: timeView,
    closedAt: timeView.nullable(),
  })
  .meta({ id: 'Dispute' });
