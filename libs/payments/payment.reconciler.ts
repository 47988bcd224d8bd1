import { ApiError } from '#platform/errors.js';
import { eachInTurn } from '#platform/in-turn.js';
import { Checkouts } from './checkouts.js';
import { OrderStore } from './order.store.js';
import { PaymentInbox } from './payment.inbox.js';
import { RefundRunner } from './refund.runner.js';
import { TopupService } from './topup.service.js';
import type { TopupOrder } from './topup-order.entity.js';

/** Bounds what one round asks providers for. */
const A_ROUND = 20;

export interface OrderChecksParts {
  readonly orders: OrderStore;
  readonly checkouts: Checkouts;
  readonly service: TopupService;
}

/**
 * Finds what no event reported: asks providers for open orders and ends those that nobody can pay any more. Several may run.
 */
export class OrderChecks {
  constructor(private readonly parts: OrderChecksParts) {}

  /** Answers whether there may be more. */
  async round(limit: number, signal: AbortSignal): Promise<boolean> {
    const due = await this.parts.orders.claimDue(limit, this.parts.checkouts.names());
    await eachInTurn(due, (order) => this.check(order), signal);
    return due.length === limit;
  }

  /** A provider that does not answer for one order must not keep the others waiting. */
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

/** Everything about payments that waits: orders that no event reported, events that came too early, refunds not ended. */
export class PaymentReconciler {
  constructor(private readonly parts: PaymentReconcilerParts) {}

  /** Answers whether more is due than one round takes. What fails is thrown at the end of the round. */
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
