import { Controller, Inject } from '@nestjs/common';
import type { z } from 'zod';
import type { TopupRefund } from '#ledger/postings/topup-refund.js';
import { viewAmount } from '#platform/http/fields.js';
import { viewPayment } from '#payments/payment.fields.js';
import { FinanceReader } from '#payments/finance.reader.js';
import { TopupRefundService } from '#payments/topup-refund.service.js';
import { TransferService } from '#payments/transfer.service.js';
import { type CallOf, Serves } from '../http/route.js';
import { financeRoutes, type refundView } from './finance.routes.js';
import { asking, filter, viewCredited } from './finance.calls.js';

@Controller()
export class FinanceController {
  constructor(
    @Inject(TransferService) private readonly transfers: TransferService,
    @Inject(TopupRefundService) private readonly topupRefunds: TopupRefundService,
    @Inject(FinanceReader) private readonly reader: FinanceReader,
  ) {}

  @Serves(financeRoutes.topups)
  async topups({ query }: CallOf<typeof financeRoutes.topups>) {
    const page = await this.reader.topups({ ...query, where: filter({ 't.account_id': query.accountId }) });
    const items = page.items.map(({ credits, paidMinor, refunded, disputed, recordedAt, ...row }) => ({
      ...row,
      credits: viewAmount(credits),
      paid: viewPayment(paidMinor),
      refunded: viewAmount(refunded),
      disputed: viewAmount(disputed),
      recordedAt: recordedAt.toISOString(),
    }));
    return { ...page, items };
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
    const page = await this.reader.refunds({ ...query, where });
    const items = page.items.map(({ createdAt, endedAt, reason, attempts, ...row }) => ({
      ...viewRefund(row),
      reason,
      attempts,
      createdAt: createdAt.toISOString(),
      endedAt: endedAt?.toISOString() ?? null,
    }));
    return { ...page, items };
  }

  @Serves(financeRoutes.confirmRefund)
  async confirmRefund(call: CallOf<typeof financeRoutes.confirmRefund>) {
    const { outcome, reference = null, note } = call.body;
    const { refundId } = call.params;
    const { actor, requestId: auditId } = call;
    const asked = { actor, auditId, requestId: auditId };
    return viewRefund(await this.topupRefunds.confirmRefund({ refundId, outcome, reference, note }, asked));
  }

  @Serves(financeRoutes.events)
  async events({ query }: CallOf<typeof financeRoutes.events>) {
    const page = await this.reader.events({ ...query, where: filter({ state: query.state }) });
    const items = page.items.map(({ receivedAt, receivedText: _, ...row }) => ({
      ...row,
      receivedAt: receivedAt.toISOString(),
    }));
    return { ...page, items };
  }

  @Serves(financeRoutes.disputes)
  async disputes({ query }: CallOf<typeof financeRoutes.disputes>) {
    const where = filter({ 'd.account_id': query.accountId });
    const page = await this.reader.disputes({ ...query, where });
    const items = page.items.map(({ amountMinor, credits, openedAt, closedAt, openedText: _, ...row }) => ({
      ...row,
      amount: viewPayment(amountMinor),
      credits: viewAmount(credits),
      openedAt: openedAt.toISOString(),
      closedAt: closedAt?.toISOString() ?? null,
    }));
    return { ...page, items };
  }
}

function viewRefund(
  refund: Pick<
    TopupRefund,
    'id' | 'topupId' | 'accountId' | 'provider' | 'currency' | 'state' | 'providerRefundId' | 'failure'
  > & { credits: bigint; paidMinor: bigint },
): z.output<typeof refundView> {
  const { id, topupId, accountId, provider, currency, state, providerRefundId, failure } = refund;
  return {
    id,
    topupId,
    accountId,
    provider,
    currency,
    state,
    providerRefundId,
    failure,
    credits: viewAmount(refund.credits),
    pay: viewPayment(refund.paidMinor),
  };
}
