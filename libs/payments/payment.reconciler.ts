import { ApiError } from '#platform/errors.js';
import { eachInTurn } from '#platform/waiting.js';
import { Checkouts } from './checkouts.js';
import { OrderStore } from './order.store.js';
import { PaymentInbox } from './payment.inbox.js';
import { RefundRunner } from './refund.runner.js';
import { TopupService } from './topup.service.js';
import type { TopupOrder } from './topup-order.entity.js';

/** Limits what one round asks providers for. */
const A_ROUND = 20;

export interface OrderChecksParts {
  readonly orders: OrderStore;
  readonly checkouts: Checkouts;
  readonly service: TopupService;
}

/**
 * Finds what no event reported: asks providers about open orders, and ends those that can no longer be paid. Several
 * may run.
 */
export class OrderChecks {
  constructor(private readonly parts: OrderChecksParts) {}

  /** Returns whether there may be more. */
  async round(limit: number, signal: AbortSignal): Promise<boolean> {
    const due = await this.parts.orders.claimDue(limit, this.parts.checkouts.names());
    await eachInTurn(due, (order) => this.check(order), signal);
    return due.length === limit;
  }

  /** A provider that does not answer for one order must not delay the others. */
  private async check(order: TopupOrder): Promise<void> {
    try {
      await this.parts.service.check(order);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

export interface PaymentReconcilerParts {
  readonly orders: OrderChecks;
  readonly inbox: PaymentInbox;
  readonly refunds: RefundRunner;
}

/** Everything about payments that waits: orders without an event, early events, unfinished refunds. */
export class PaymentReconciler {
  constructor(private readonly parts: PaymentReconcilerParts) {}

  /** Returns whether more is due than one round handles. Errors are thrown at the end of the round. */
  async round(signal: AbortSignal): Promise<boolean> {
    let more = false;
    const parts = [
      () => this.parts.orders.round(A_ROUND, signal),
      () => this.parts.inbox.retryWaiting(A_ROUND, signal),
      () => this.parts.refunds.runDue(A_ROUND, signal),
    ];
    await eachInTurn(parts, async (part) => (more = (await part()) || more), signal);
    return more;
  }
}
