import { Checkouts } from './checkouts.js';
import { type NewOrder, OrderStore } from './order.store.js';
import { PaymentInbox } from './payment.inbox.js';
import { FOUND } from './payment.notices.js';
import type { CheckoutState, PaymentEvent } from './payment.provider.js';
import type { TopupOrder } from './topup-order.entity.js';

export interface TopupServiceParts {
  readonly orders: OrderStore;
  readonly checkouts: Checkouts;
  readonly inbox: PaymentInbox;
}

/** Customers' orders and their checkouts, which are opened and closed outside transactions. */
export class TopupService {
  constructor(private readonly parts: TopupServiceParts) {}

  /** The providers that an order may be paid with. */
  providers(): ReturnType<Checkouts['forOrders']> {
    return this.parts.checkouts.forOrders();
  }

  /**
   * Saves an order, then opens its checkout. A repeat of the request finds the order, and opens the checkout if that had
   * failed.
   * @throws ApiError payment_provider_failed when there is no checkout yet
   */
  async order(asked: NewOrder): Promise<TopupOrder> {
    this.parts.checkouts.require(asked.provider);
    const order = await this.parts.orders.save(asked);
    if (order.state !== 'open' || order.providerReference !== null) return order;
    await this.parts.orders.setCheckout(order.id, await this.parts.checkouts.create(order));
    return this.parts.orders.show(order.accountId, order.id);
  }

  /** Ends an order that is not wanted any more; a payment that was faster is credited. */
  async cancel(accountId: string, orderId: string): Promise<TopupOrder> {
    const order = await this.parts.orders.show(accountId, orderId);
    if (order.state !== 'open') return order;
    const found = await this.parts.checkouts.close(order);
    if (found.state === 'paid') await this.parts.inbox.accept(foundEvent(order, found));
    if (found.state === 'ended') await this.parts.orders.end(orderId, 'cancelled');
    return this.parts.orders.show(accountId, orderId);
  }

  /** Asks the provider about an order that no event reported. */
  async check(order: TopupOrder): Promise<void> {
    const found = await this.parts.checkouts.find(order);
    if (found.state === 'paid') await this.parts.inbox.accept(foundEvent(order, found));
    // A payment that went to suspense leaves its order open, and the provider would report `paid` forever.
    if (found.state !== 'open') await this.parts.orders.end(order.id, 'expired');
  }
}

/** A payment found by polling, as the event would report it. */
function foundEvent(
  { id: orderId, provider }: TopupOrder,
  { paymentId, amountMinor, currency }: Extract<CheckoutState, { state: 'paid' }>,
): PaymentEvent {
  return {
    provider,
    eventId: `${FOUND}:${orderId}:${paymentId}`,
    type: FOUND,
    fact: { kind: 'paid', orderId, paymentId, amountMinor, currency },
  };
}
