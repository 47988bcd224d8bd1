import { z } from 'zod';
import { creditAmount, amountView, id, requestIdField, timeView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

export const chargeRefundView = z
  .object({
    id: z.string(),
    chargeId: z.string(),
    seq: z.number().int().meta({ description: 'The first refund of its charge is 1.' }),
    amount: amountView,
    reason: z.string(),
    ticketId: z.string(),
    requestedBy: z.string().meta({ description: "A person's id." }),
    approvedBy: z.string().nullable().meta({ description: 'The second person, where one was needed.' }),
    recordedAt: timeView,
  })
  .meta({ id: 'ChargeRefund' });

const forStaff = routesFor(['support', 'admin'], 'Refunds');

export const refundRoutes = {
  create: forStaff.post('refundCharge', '/api/support/tickets/{ticketId}/refunds', {
    summary: 'Refund part of a charge, with a ticket.',
    description:
      'More than one person may decide alone waits for a second one: see the approvals. Together the refunds of a charge are never more than was settled.',
    confirms: true,
    params: z.strictObject({ ticketId: id }),
    body: z.strictObject({
      requestId: requestIdField,
      chargeId: id,
      amount: creditAmount.refine((value) => value > 0n, 'must be above 0'),
      reason: z
        .string()
        .trim()
        .min(1, 'must not be empty')
        .max(500, 'must have at most 500 characters')
        // oxlint-disable-next-line no-control-regex -- control characters are what is refused
        .regex(/^[^\u0000-\u001f\u007f]*$/, 'must be one line')
        .meta({ description: 'The customer reads it.' }),
    }),
    answer: z.object({
      state: z.enum(['refunded', 'pending', 'rejected']),
      refund: chargeRefundView.nullable(),
      approvalId: z.string().nullable().meta({ description: 'What a second person decides.' }),
    }),
    refusals: ['second_person_required', 'conflict'],
  }),
  list: forStaff.get('listChargeRefunds', '/api/support/charges/{chargeId}/refunds', {
    summary: 'List the refunds of a charge, oldest first, and what can still be refunded.',
    params: z.strictObject({ chargeId: id }),
    answer: z.object({ settled: amountView, refundable: amountView, items: z.array(chargeRefundView) }),
  }),
};
