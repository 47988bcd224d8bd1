import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import { formatDecimal, nanos, type Nanos, parseDecimal } from '#money/amount.js';
import type { TopupRate } from '#topup/conversion.js';

export const orderStates = ['open', 'paid', 'expired', 'cancelled', 'refunded', 'disputed'] as const;
export type OrderState = (typeof orderStates)[number];

/** The customer's wish: credits at their price, or what an amount buys. */
export type TopupAsk = { credits: string } | { pay: string };

/** A numeric column with trailing zeros, converted to the rate. */
const rateTransformer = {
  to: (rate: TopupRate) => rate,
  from: (text: string) => formatDecimal(parseDecimal(text.replace(/0+$/, ''))) as TopupRate,
};

/** An intended top-up. Its amounts and its rate never change. */
@Entity('topup_orders')
export class TopupOrder {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'account_id' }) accountId!: string;
  @Column('text', { name: 'request_id' }) requestId!: string;
  @Column('jsonb') request!: TopupAsk & { provider: PaymentProviderName };
  @Column('text') provider!: PaymentProviderName;
  /** Nanos. */
  @Column('bigint', { transformer: { to: String, from: (value: bigint) => nanos(value) } }) credits!: Nanos;
  /** Minor units. */
  @Column('bigint', { name: 'paid_minor', transformer: { to: String, from: BigInt } }) paidMinor!: bigint;
  @Column('text') currency!: string;
  @Column('numeric', { transformer: rateTransformer }) rate!: TopupRate;
  @Column('text') state!: OrderState;
  @Column('text', { name: 'provider_reference', nullable: true }) providerReference!: string | null;
  @Column('text', { name: 'checkout_url', nullable: true }) checkoutUrl!: string | null;
  @Column('text', { name: 'payment_id', nullable: true }) paymentId!: string | null;
  @Column('text', { name: 'topup_id', nullable: true }) topupId!: string | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'next_check_at' }) nextCheckAt!: Date;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) paidAt!: Date | null;
}
