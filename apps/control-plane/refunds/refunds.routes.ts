import { z } from 'zod';
import {
  creditAmount,
  amountView,
  id,
  requestIdField,
  timeView,
  visibleLine,
} from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

export const chargeRefundView = z
  .object({
    id: z.string(),
    chargeId: z.string(),
    seq: z.int().describe('The number of the refund within its charge, starting at 1.'),
    amount: amountView,
    reason: z.string(),
    ticketId: z.string(),
    requestedBy: z.string().describe("A person's ID."),
    approvedBy: z.string().nullable().describe('The second person, if one was needed.'),
    recordedAt: timeView,
  })
  .meta({ id: 'ChargeRefund' });

const forStaff = routesFor(['support', 'admin'], 'Refunds');

export const refundRoutes = {
  create: forStaff.post('refundCharge', '/api/support/tickets/{ticketId}/refunds', {
    summary: 'Refund part of a charge, with a ticket.',
    description:
      'Refunds above the limit for one person wait for the approval of a second person. The refunds of a charge never exceed the amount charged.',
    confirms: true,
    body: z.strictObject({
      requestId: requestIdField,
      chargeId: id,
      amount: creditAmount.refine((value) => value > 0n, 'must be above 0'),
      reason: visibleLine.max(500, 'must have at most 500 characters').describe('Shown to the customer.'),
    }),
    answer: z.object({
      state: z.enum(['refunded', 'pending', 'rejected']),
      refund: chargeRefundView.nullable(),
      approvalId: z.string().nullable().describe('The approval that a second person has to give.'),
    }),
    refusals: ['second_person_required', 'conflict'],
  }),
  list: forStaff.get('listChargeRefunds', '/api/support/charges/{chargeId}/refunds', {
    summary: 'List the refunds of a charge, oldest first, and what can still be refunded.',
    answer: z.object({ settled: amountView, refundable: amountView, items: z.array(chargeRefundView) }),
  }),
};
