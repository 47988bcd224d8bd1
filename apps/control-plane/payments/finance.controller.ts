import { Controller, Inject } from '@nestjs/common';
import type { z } from 'zod';
import type { TopupRefund } from '#ledger/postings/topup-refund.js';
import type { TopupResult } from '#ledger/postings/topup.js';
import { viewAmount } from '#platform/http/fields.js';
import { viewPayment } from '#payments/payment.fields.js';
import type { Done } from '#approvals/approval.service.js';
import type { Asking } from '#payments/finance-credit.js';
import { FinanceReader } from '#payments/finance.reader.js';
import { TopupRefundService } from '#payments/topup-refund.service.js';
import { SuspenseService } from '#payments/suspense.service.js';
import { TransferService } from '#payments/transfer.service.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { financeRoutes, type refundView } from './finance.routes.js';

@Controller()
export class FinanceController {
  constructor(
    @Inject(TransferService) private readonly transfers: TransferService,
    @Inject(TopupRefundService) private readonly topupRefunds: TopupRefundService,
    @Inject(SuspenseService) private readonly suspenseItems: SuspenseService,
    @Inject(FinanceReader) private readonly reader: FinanceReader,
  ) {}

  @Serves(financeRoutes.topups)
  async topups({
    query,
  }: CallOf<typeof financeRoutes.topups>): Promise<AnswerOf<typeof financeRoutes.topups>> {
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
  async record(call: CallOf<typeof financeRoutes.record>): Promise<AnswerOf<typeof financeRoutes.record>> {
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
  async refund(call: CallOf<typeof financeRoutes.refund>): Promise<AnswerOf<typeof financeRoutes.refund>> {
    const { credits = null, reason } = call.body;
    const { topupId } = call.params;
    const { done, approvalId } = await this.topupRefunds.refund({ topupId, credits, reason }, asking(call));
    return { refund: done && viewRefund(done), approvalId };
  }

  @Serves(financeRoutes.refunds)
  async refunds({
    query,
  }: CallOf<typeof financeRoutes.refunds>): Promise<AnswerOf<typeof financeRoutes.refunds>> {
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
  async confirmRefund(
    call: CallOf<typeof financeRoutes.confirmRefund>,
  ): Promise<AnswerOf<typeof financeRoutes.confirmRefund>> {
    const { outcome, reference = null, note } = call.body;
    const { refundId } = call.params;
    const { actor, requestId: auditId } = call;
    const asked = { actor, auditId, requestId: auditId };
    return viewRefund(await this.topupRefunds.confirmRefund({ refundId, outcome, reference, note }, asked));
  }

  @Serves(financeRoutes.suspense)
  async suspense({
    query,
  }: CallOf<typeof financeRoutes.suspense>): Promise<AnswerOf<typeof financeRoutes.suspense>> {
    const page = await this.reader.suspense({ ...query, where: filter({ state: query.state }) });
    const items = page.items.map(({ amountMinor, clearedAt, createdAt, ...row }) => ({
      ...row,
      amount: viewPayment(amountMinor),
      clearedAt: clearedAt?.toISOString() ?? null,
      createdAt: createdAt.toISOString(),
    }));
    return { ...page, items };
  }

  @Serves(financeRoutes.creditSuspense)
  async creditSuspense(
    call: CallOf<typeof financeRoutes.creditSuspense>,
  ): Promise<AnswerOf<typeof financeRoutes.creditSuspense>> {
    const { itemId } = call.params;
    const { accountId, note } = call.body;
    return viewCredited(await this.suspenseItems.creditSuspense({ itemId, accountId, note }, asking(call)));
  }

  @Serves(financeRoutes.returnSuspense)
  async returnSuspense(call: CallOf<typeof financeRoutes.returnSuspense>): Promise<void> {
    const { params, body, actor, requestId: auditId } = call;
    await this.suspenseItems.returnSuspense(params.itemId, body.note, { actor, auditId, requestId: auditId });
  }

  @Serves(financeRoutes.expenseSuspense)
  async expenseSuspense(call: CallOf<typeof financeRoutes.expenseSuspense>): Promise<void> {
    const { params, body, actor, requestId: auditId } = call;
    await this.suspenseItems.expenseSuspense(params.itemId, body.note, {
      actor,
      auditId,
      requestId: auditId,
    });
  }

  @Serves(financeRoutes.events)
  async events({
    query,
  }: CallOf<typeof financeRoutes.events>): Promise<AnswerOf<typeof financeRoutes.events>> {
    const page = await this.reader.events({ ...query, where: filter({ state: query.state }) });
    const items = page.items.map(({ receivedAt, receivedText: _, ...row }) => ({
      ...row,
      receivedAt: receivedAt.toISOString(),
    }));
    return { ...page, items };
  }

  @Serves(financeRoutes.disputes)
  async disputes({
    query,
  }: CallOf<typeof financeRoutes.disputes>): Promise<AnswerOf<typeof financeRoutes.disputes>> {
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

function asking(call: { actor: Asking['actor']; requestId: string; body: { requestId: string } }): Asking {
  return { actor: call.actor, requestId: call.body.requestId, auditId: call.requestId };
}

/** Columns that must be so; what is not asked for is left out. */
function filter(columns: Record<string, string | undefined>): [string, unknown][] {
  return Object.entries(columns).flatMap(([column, value]): [string, unknown][] =>
    value === undefined ? [] : [[`${column} = ?`, value]],
  );
}

function viewCredited({ done, approvalId }: Done<TopupResult>): AnswerOf<typeof financeRoutes.record> {
  const topup = done && {
    id: done.topupId,
    credits: viewAmount(done.credits),
    balance: viewAmount(done.balance),
  };
  return { topup, approvalId };
}

function viewRefund(
  refund: Pick<
    TopupRefund,
    'id' | 'topupId' | 'accountId' | 'provider' | 'currency' | 'state' | 'providerRefundId' | 'failure'
  > & { credits: bigint; paidMinor: bigint },
): z.input<typeof refundView> {
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
