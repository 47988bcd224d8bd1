import { Checkouts } from './checkouts.js';
import { type NewOrder, OrderStore } from './order.store.js';
import { PaymentInbox } from './payment.inbox.js';
import { FOUND } from './payment.notices.js';
import type { CheckoutState, PaymentEvent } from './payment.provider.js';
import type { TopupOrder } from './topup-order.entity.js';
import { HasParts } from '#platform/has-parts.js';

/** Customers' orders and their checkouts, which are opened and closed outside transactions. */
export class TopupService extends HasParts<{
  orders: OrderStore;
  checkouts: Checkouts;
  inbox: PaymentInbox;
}> {
  /** The providers that an order may be paid with. */
  providers(): ReturnType<Checkouts['forOrders']> {
    return this.checkouts.forOrders();
  }

  /**
   * Saves an order, then opens its checkout. A repeat of the request finds the order, and opens the checkout if that had
   * failed.
   * @throws ApiError payment_provider_failed when there is no checkout yet
   */
  async order(asked: NewOrder): Promise<TopupOrder> {
    this.checkouts.require(asked.provider);
    const order = await this.orders.save(asked);
    if (order.state !== 'open' || order.providerReference !== null) return order;
    await this.orders.setCheckout(order.id, await this.checkouts.create(order));
    return this.orders.show(order.accountId, order.id);
  }

  /** Ends an order that is not wanted any more; a payment that was faster is credited. */
  async cancel(accountId: string, orderId: string): Promise<TopupOrder> {
    const order = await this.orders.show(accountId, orderId);
    if (order.state !== 'open') return order;
    const found = await this.checkouts.close(order);
    if (found.state === 'paid') await this.inbox.accept(foundEvent(order, found));
    if (found.state === 'ended') await this.orders.end(orderId, 'cancelled');
    return this.orders.show(accountId, orderId);
  }

  /** Asks the provider about an order that no event reported. */
  async check(order: TopupOrder): Promise<void> {
    const found = await this.checkouts.find(order);
    if (found.state === 'paid') await this.inbox.accept(foundEvent(order, found));
    // A payment that went to suspense leaves its order open, and the provider would report `paid` forever.
    if (found.state !== 'open') await this.orders.end(order.id, 'expired');
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
