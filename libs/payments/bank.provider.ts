import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type {
  Checkout,
  CheckoutState,
  PayableOrder,
  PaymentEvent,
  PaymentProvider,
  ProviderRefund,
} from './payment.provider.js';

/** Bank transfers have no page and no events: finance records incoming ones and confirms refunds. */
export class BankProvider implements PaymentProvider {
  readonly name = 'manual';

  constructor(private readonly clock: Clock) {}

  async createCheckout(order: PayableOrder): Promise<Checkout> {
    return { reference: order.id, url: null };
  }

  verifyEvent(): PaymentEvent {
    throw new ApiError('invalid_request', 'Bank transfers have no events.');
  }

  /** A late transfer is credited when it arrives; the order itself expires. */
  async findPayment({ expiresAt }: PayableOrder): Promise<CheckoutState> {
    return { state: expiresAt.getTime() < this.clock.nowMs() ? 'ended' : 'open' };
  }

  async closeCheckout(): Promise<CheckoutState> {
    return { state: 'ended' };
  }

  async refund(): Promise<ProviderRefund> {
    return { state: 'pending', providerRefundId: null };
  }
}
