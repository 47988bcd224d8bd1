import { ApiError } from '#platform/errors.js';
import { eachInTurn } from '#platform/in-turn.js';
import { Checkouts } from './checkouts.js';
import { OrderStore } from './order.store.js';
import { PaymentInbox } from './payment.inbox.js';
import { RefundRunner } from './refund.runner.js';
import { TopupService } from './topup.service.js';
import type { TopupOrder } from './topup-order.entity.js';
import { HasParts } from '#platform/has-parts.js';

/** Limits what one round asks providers for. */
const A_ROUND = 20;

/**
 * Finds what no event reported: asks providers about open orders, and ends those that can no longer be paid. Several
 * may run.
 */
export class OrderChecks extends HasParts<{
  orders: OrderStore;
  checkouts: Checkouts;
  service: TopupService;
}> {
  /** Returns whether there may be more. */
  async round(limit: number, signal: AbortSignal): Promise<boolean> {
    const due = await this.orders.claimDue(limit, this.checkouts.names());
    await eachInTurn(due, (order) => this.check(order), signal);
    return due.length === limit;
  }

  /** A provider that does not answer for one order must not delay the others. */
  private async check(order: TopupOrder): Promise<void> {
    try {
      await this.service.check(order);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

/** Everything about payments that waits: orders without an event, early events, unfinished refunds. */
export class PaymentReconciler extends HasParts<{
  orders: OrderChecks;
  inbox: PaymentInbox;
  refunds: RefundRunner;
}> {
  /** Returns whether more is due than one round handles. Errors are thrown at the end of the round. */
  async round(signal: AbortSignal): Promise<boolean> {
    let more = false;
    const parts = [
      () => this.orders.round(A_ROUND, signal),
      () => this.inbox.retryWaiting(A_ROUND, signal),
      () => this.refunds.runDue(A_ROUND, signal),
    ];
    await eachInTurn(parts, async (part) => (more = (await part()) || more), signal);
    return more;
  }
}
