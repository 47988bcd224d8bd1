import { Controller, Inject } from '@nestjs/common';
import type { z } from 'zod';
import type { ChargeRefund } from '#ledger/charges/charge-refund.js';
import { viewAmount } from '#platform/http/fields.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { type CallOf, Serves } from '../http/route.js';
import { staff } from '../tickets/support-tickets.controller.js';
import { refundRoutes as routes, type refundView } from './refunds.routes.js';

/** Money back for what went wrong after it was paid for. */
@Controller()
export class RefundsController {
  constructor(@Inject(ChargeRefundService) private readonly service: ChargeRefundService) {}

  @Serves(routes.create)
  async create(call: CallOf<typeof routes.create>) {
    const { state, refund, approvalId } = await this.service.refund(staff(call), {
      ...call.params,
      ...call.body,
    });
    return { state, refund: refund && view(refund), approvalId };
  }

  @Serves(routes.list)
  async list({ params }: CallOf<typeof routes.list>) {
    const { settled, refundable, items } = await this.service.ofCharge(params.chargeId);
    return { settled: viewAmount(settled), refundable: viewAmount(refundable), items: items.map(view) };
  }
}

function view(refund: ChargeRefund): z.output<typeof refundView> {
  const { refundId, chargeId, seq, amount, reason, ticketId, requestedBy, approvedBy, recordedAt } = refund;
  return {
    id: refundId,
    chargeId,
    seq,
    reason,
    ticketId,
    requestedBy,
    approvedBy,
    amount: viewAmount(amount),
    recordedAt: recordedAt.toISOString(),
  };
}
