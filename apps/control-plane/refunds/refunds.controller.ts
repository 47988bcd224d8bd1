import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import type { ChargeRefund } from '#ledger/charges/charge-refund.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { staff } from '../tickets/support-tickets.controller.js';
import { refundRoutes as routes, type chargeRefundView } from './refunds.routes.js';

@Controller()
export class RefundsController extends Using({ service: ChargeRefundService }) {
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
    const { items, ...sums } = await this.service.ofCharge(params.chargeId);
    return { ...sums, items: items.map(view) };
  }
}

function view({ refundId: id, ...refund }: ChargeRefund): z.input<typeof chargeRefundView> {
  return { ...refund, id };
}
