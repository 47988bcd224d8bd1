import type pg from 'pg';
import { z } from 'zod';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type {
  Checkout,
  CheckoutState,
  PayableOrder,
  PaymentEvent,
  PaymentFact,
  PaymentProvider,
  ProviderRefund,
  RefundOrder,
} from './payment.provider.js';

const SANDBOX_SIGNATURE = 'sandbox-signature';

const text = z.string().regex(/^[\x20-\x7e]{1,200}$/);
const sandboxEvent = z.object({
  id: text,
  type: z.enum(['payment.succeeded', 'checkout.cancelled']),
  orderId: text,
  paymentId: text.optional(),
  amountMinor: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .optional(),
});
type SandboxEvent = z.infer<typeof sandboxEvent>;

/** Simulated payments, for trying the relay without a provider. It keeps its own books, like a provider. */
export class SandboxProvider implements PaymentProvider {
  readonly name = 'sandbox';

  constructor(
    private readonly pool: pg.Pool,
    private readonly options: { secret: string; clock: Clock },
  ) {}

  async createCheckout(order: PayableOrder): Promise<Checkout> {
    return { reference: order.id, url: `/sandbox-pay/${order.id}` };
  }

  verifyEvent(rawBody: Buffer, headers: IncomingHttpHeaders): PaymentEvent {
    const sent = Buffer.from(String(headers[SANDBOX_SIGNATURE] ?? ''));
    const wanted = Buffer.from(this.sign(rawBody));
    if (sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) {
      throw new ApiError('invalid_request', 'The event is not signed by the sandbox.');
    }
    const event = readEvent(rawBody);
    return { provider: 'sandbox', eventId: event.id, type: event.type, fact: factOf(event) };
  }

  async findPayment(order: PayableOrder): Promise<CheckoutState> {
    const { rows } = await this.pool.query<{ paymentId: string; amountMinor: bigint; currency: string }>(
      `SELECT payment_id AS "paymentId", amount_minor AS "amountMinor", currency FROM sandbox_payments
       WHERE order_id = $1`,
      [order.id],
    );
    if (rows[0]) return { state: 'paid', ...rows[0] };
    return { state: order.expiresAt.getTime() < this.options.clock.nowMs() ? 'ended' : 'open' };
  }

  async closeCheckout(order: PayableOrder): Promise<CheckoutState> {
    const found = await this.findPayment(order);
    return found.state === 'open' ? { state: 'ended' } : found;
  }

  async refund({ refundId, paymentId, amountMinor, currency }: RefundOrder): Promise<ProviderRefund> {
    await this.pool.query(
      `INSERT INTO sandbox_refunds (refund_id, payment_id, amount_minor, currency) VALUES ($1, $2, $3, $4)
       ON CONFLICT (refund_id) DO NOTHING`,
      [refundId, paymentId, amountMinor, currency],
    );
    return { state: 'succeeded', providerRefundId: `sandbox-${refundId}` };
  }

  /** Simulates a customer who pays, once per order. Returns the signed event that reports it. */
  async pay(order: PayableOrder): Promise<{ rawBody: Buffer; headers: Record<string, string> }> {
    const { rows } = await this.pool.query<{ paymentId: string; amountMinor: bigint; currency: string }>(
      `WITH made AS (INSERT INTO sandbox_payments (order_id, payment_id, amount_minor, currency) VALUES ($1, $2, $3, $4)
         ON CONFLICT (order_id) DO NOTHING RETURNING payment_id, amount_minor, currency)
       SELECT payment_id AS "paymentId", amount_minor AS "amountMinor", currency FROM made
       UNION ALL SELECT payment_id, amount_minor, currency FROM sandbox_payments WHERE order_id = $1`,
      [order.id, `sandbox-${newId()}`, order.paidMinor, order.currency],
    );
    const payment = rows[0];
    // Another click was faster and has not committed yet. Its event reports the payment.
    if (!payment) throw new ApiError('conflict', 'The order is being paid.');
    return this.signed({
      id: `${payment.paymentId}-succeeded`,
      type: 'payment.succeeded',
      orderId: order.id,
      paymentId: payment.paymentId,
      amountMinor: payment.amountMinor.toString(),
      currency: payment.currency,
    });
  }

  /** Simulates a customer who cancels. */
  cancel(order: PayableOrder): { rawBody: Buffer; headers: Record<string, string> } {
    return this.signed({ id: `${order.id}-cancelled`, type: 'checkout.cancelled', orderId: order.id });
  }

  private signed(event: SandboxEvent): { rawBody: Buffer; headers: Record<string, string> } {
    const rawBody = Buffer.from(JSON.stringify(event));
    return { rawBody, headers: { [SANDBOX_SIGNATURE]: this.sign(rawBody) } };
  }

  private sign(rawBody: Buffer): string {
    return createHmac('sha256', this.options.secret).update(rawBody).digest('hex');
  }
}

/** @throws ApiError invalid_request */
function readEvent(rawBody: Buffer): SandboxEvent {
  try {
    return sandboxEvent.parse(JSON.parse(rawBody.toString()));
  } catch (cause) {
    throw new ApiError('invalid_request', "The event does not have the sandbox's format.", { cause });
  }
}

function factOf({
  type,
  orderId,
  paymentId = '',
  amountMinor = '0',
  currency = '',
}: SandboxEvent): PaymentFact {
  if (type === 'checkout.cancelled') return { kind: 'ended', orderId, as: 'cancelled' };
  return { kind: 'paid', orderId, paymentId, amountMinor: BigInt(amountMinor), currency };
}
