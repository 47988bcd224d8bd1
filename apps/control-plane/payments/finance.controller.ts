import { Controller } from '@nestjs/common';
import { FinanceReader } from '#payments/finance.reader.js';
import { TopupRefundService } from '#payments/topup-refund.service.js';
import { TransferService } from '#payments/transfer.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { financeRoutes } from './finance.routes.js';
import { asking, askingOnce, filter, viewCredited } from './finance.calls.js';

@Controller()
export class FinanceController extends Using({
  transfers: TransferService,
  topupRefunds: TopupRefundService,
  reader: FinanceReader,
}) {
  @Serves(financeRoutes.topups)
  async topups({ query }: CallOf<typeof financeRoutes.topups>) {
    return this.reader.topups({ ...query, where: filter({ 't.account_id': query.accountId }) });
  }

  @Serves(financeRoutes.record)
  async record(call: CallOf<typeof financeRoutes.record>) {
    const {
      accountId = null,
      orderId = null,
      valueDate = null,
      paymentId,
      paid,
      currency,
      reason,
    } = call.body;
    const transfer = { accountId, orderId, valueDate, paymentId, paidMinor: paid, currency, reason };
    return viewCredited(await this.transfers.recordTransfer(transfer, asking(call)));
  }

  @Serves(financeRoutes.refund)
  async refund(call: CallOf<typeof financeRoutes.refund>) {
    const { credits = null, reason } = call.body;
    const { topupId } = call.params;
    const { done, approvalId } = await this.topupRefunds.refund({ topupId, credits, reason }, asking(call));
    return { refund: done && viewRefund(done), approvalId };
  }

  @Serves(financeRoutes.refunds)
  async refunds({ query }: CallOf<typeof financeRoutes.refunds>) {
    const where = filter({ 'r.account_id': query.accountId, 'r.state': query.state });
    return this.reader.refunds({ ...query, where });
  }

  @Serves(financeRoutes.confirmRefund)
  async confirmRefund(call: CallOf<typeof financeRoutes.confirmRefund>) {
    const { outcome, reference = null, note } = call.body;
    const { refundId } = call.params;
    const refund = { refundId, outcome, reference, note };
    return viewRefund(await this.topupRefunds.confirmRefund(refund, askingOnce(call)));
  }

  @Serves(financeRoutes.events)
  async events({ query }: CallOf<typeof financeRoutes.events>) {
    return this.reader.events({ ...query, where: filter({ state: query.state }) });
  }

  @Serves(financeRoutes.disputes)
  async disputes({ query }: CallOf<typeof financeRoutes.disputes>) {
    return this.reader.disputes({ ...query, where: filter({ 'd.account_id': query.accountId }) });
  }
}

function viewRefund<T extends { paidMinor: bigint }>({ paidMinor: pay, ...refund }: T) {
  return { ...refund, pay };
}
