import { newId } from '#platform/ids.js';
import { StripeStandIn } from '../stripe.js';
import type { Dice } from './dice.js';

export interface ProviderPayment {
  paymentId: string;
  orderId: string | null;
  amountMinor: number;
  /** In lower case, as at Stripe. */
  currency: string;
  at: Date;
}

/** A line of the provider's own books, in minor units. Positive for money that we received. */
export interface ProviderLine {
  lineId: string;
  type: 'charge' | 'refund' | 'dispute' | 'dispute_reversal' | 'payout';
  /** The id of the charge, refund, dispute or payout. */
  sourceId: string;
  paymentId: string | null;
  gross: number;
  fee: number;
  currency: string;
  at: Date;
  payoutId: string | null;
}

const DISPUTE_FEE = 1_500;

/**
 * A payment provider outside our books: payments, refunds, disputes and payouts. Its events arrive twice, late and in
 * any order.
 */
export class Provider {
  readonly payments: ProviderPayment[] = [];
  readonly lines: ProviderLine[] = [];
  /** Events in transit. */
  private events: object[] = [];
  private readonly known = new Set<string>();

  constructor(
    readonly stripe: StripeStandIn,
    private readonly dice: Dice,
  ) {}

  pay(payment: Omit<ProviderPayment, 'paymentId'>): ProviderPayment {
    const paid = { ...payment, paymentId: `pi_${newId()}` };
    const { paymentId, orderId, amountMinor, currency, at } = paid;
    this.payments.push(paid);
    const fee = Math.floor(amountMinor * 0.029) + 30;
    this.line({
      type: 'charge',
      sourceId: `ch_${newId()}`,
      paymentId,
      gross: amountMinor,
      fee,
      currency,
      at,
    });
    this.send(at, 'checkout.session.completed', {
      id: `cs_${paymentId}`,
      object: 'checkout.session',
      client_reference_id: orderId,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: paymentId,
      amount_total: amountMinor,
      currency,
    });
    return paid;
  }

  dispute(
    payment: ProviderPayment,
    of: { disputeId: string; state: 'open' | 'won' | 'lost'; at: Date },
  ): void {
    const { paymentId, amountMinor, currency } = payment;
    const { disputeId, state, at } = of;
    const common = { sourceId: disputeId, paymentId, currency, at };
    if (state === 'open') this.line({ type: 'dispute', gross: -amountMinor, fee: DISPUTE_FEE, ...common });
    if (state === 'won') {
      this.line({ type: 'dispute_reversal', gross: amountMinor, fee: -DISPUTE_FEE, ...common });
    }
    this.send(at, state === 'open' ? 'charge.dispute.created' : 'charge.dispute.closed', {
      id: disputeId,
      object: 'dispute',
      payment_intent: paymentId,
      amount: amountMinor,
      currency,
      status: state === 'open' ? 'needs_response' : state,
    });
  }

  /** Adds our refunds since the last call to the provider's books and events. */
  noteRefunds(at: Date): void {
    for (const refund of this.stripe.refunds.values()) {
      if (this.known.has(refund.id)) continue;
      this.known.add(refund.id);
      const { id, amount, currency, payment_intent: paymentId, status } = refund;
      if (status === 'succeeded') {
        this.line({ type: 'refund', sourceId: id, paymentId, gross: -amount, fee: 0, currency, at });
      }
      this.send(at, 'refund.updated', { ...refund });
    }
  }

  /** Returns a payment that has no owner. There is no event for it. */
  giveBack(paymentId: string, at: Date): void {
    const payment = this.payments.find((each) => each.paymentId === paymentId);
    if (!payment) throw new Error(`there is no payment ${paymentId}`);
    const { amountMinor, currency } = payment;
    this.line({
      type: 'refund',
      sourceId: `re_${newId()}`,
      paymentId,
      gross: -amountMinor,
      fee: 0,
      currency,
      at,
    });
  }

  /** Pays out to the bank whatever has not been paid out. */
  payOut(at: Date): void {
    const waiting = this.lines.filter((line) => line.payoutId === null && line.currency === 'usd');
    const amount = waiting.reduce((sum, { gross, fee }) => sum + gross - fee, 0);
    if (amount <= 0) return;
    const payoutId = `po_${newId()}`;
    const payout = { type: 'payout', sourceId: payoutId, paymentId: null, gross: -amount, fee: 0 } as const;
    this.line({ ...payout, currency: 'usd', at });
    for (const line of [...waiting, this.lines.at(-1) as ProviderLine]) line.payoutId = payoutId;
  }

  /** The events that arrive today: most of those in transit, some of them twice, in any order. */
  arriving(all: boolean): object[] {
    const today = this.dice.shuffled(this.events).filter(() => all || !this.dice.percent(8));
    const gone = new Set(today);
    this.events = this.events.filter((event) => !gone.has(event));
    return this.dice.shuffled([...today, ...today.filter(() => this.dice.percent(10))]);
  }

  private send(at: Date, type: string, object: object): void {
    this.events.push({ ...this.stripe.event(type, object), created: Math.floor(at.getTime() / 1000) });
  }

  private line(line: Omit<ProviderLine, 'lineId' | 'payoutId'>): void {
    this.lines.push({ ...line, lineId: `txn_${newId()}`, payoutId: null });
  }
}
