import type pg from 'pg';
import { DataSource, In, LessThan } from 'typeorm';
import { isDeepStrictEqual } from 'node:util';
import { inTransaction } from '#database/database.js';
import { lockAccount } from '#identity/account.store.js';
import { countDaily } from '#identity/daily-limits.js';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { orderFault, type TopupRate, type TopupWish } from '#topup/conversion.js';
import { convertForAccount } from '#topup/account-rates.js';
import type { PaymentsConfig } from './payments.config.js';
import { viewPayment } from './payment.fields.js';
import { type Checkout, LONGEST_STRIPE_CHECKOUT_MS } from './payment.provider.js';
import { type OrderReversals, readReversals } from './order.reversals.js';
import { TopupOrder } from './topup-order.entity.js';

export interface Offer {
  credits: Nanos;
  payMinor: bigint;
  currency: string;
  rate: TopupRate;
}

export interface NewOrder {
  accountId: string;
  wish: TopupWish;
  provider: PaymentProviderName;
  requestId: string;
}

interface OrderRow extends Omit<NewOrder, 'wish'> {
  request: TopupOrder['request'];
  offer: Offer;
}

/**
 * The most open orders per account. Each is checked at its provider, one after the other for all accounts, and nobody
 * pays more at a time.
 */
const MAX_OPEN = 20;

export interface OrderStoreParts {
  readonly source: DataSource;
  readonly pool: pg.Pool;
  readonly config: { readonly payments: PaymentsConfig };
}

const INSERT = `INSERT INTO topup_orders (id, account_id, request_id, request, provider, credits, paid_minor, currency, rate,
    expires_at, next_check_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10::float8 * interval '1 millisecond',
    now() + $11::float8 * interval '1 millisecond')
  ON CONFLICT (account_id, request_id) DO NOTHING`;

/** Orders: their cost when they are placed, and their state. */
export class OrderStore {
  constructor(private readonly parts: OrderStoreParts) {}

  /** @throws ApiError invalid_value for less than one unit, or more than providers take */
  async quote(accountId: string, wish: TopupWish): Promise<Offer> {
    const bought = await convertForAccount(this.parts.pool, accountId, wish);
    const fault = orderFault(bought);
    const param = 'credits' in wish ? 'credits' : 'pay';
    if (fault) throw new ApiError('invalid_value', `${param}: ${fault}.`, { param });
    const { credits, paidMinor, rate } = bought;
    return { credits, payMinor: paidMinor, currency: this.parts.config.payments.currency, rate };
  }

  /**
   * Saves an order with its current price. A repeat of the request returns the same order.
   * @throws ApiError conflict for another order's request id, or one open order too many; too_many_attempts
   */
  async save({ accountId, wish, provider, requestId }: NewOrder): Promise<TopupOrder> {
    const orders = this.parts.source.getRepository(TopupOrder);
    const request = { provider, ...askOf(wish) };
    const repeated = await orders.findOneBy({ accountId, requestId });
    if (repeated) return same(repeated, request);
    const offer = await this.quote(accountId, wish);
    await inTransaction(this.parts.pool, (client) =>
      this.insert(client, { accountId, requestId, provider, request, offer }),
    );
    return same(await orders.findOneByOrFail({ accountId, requestId }), request);
  }

  /** Concurrent orders of an account are counted one after the other. */
  private async insert(client: pg.ClientBase, order: OrderRow): Promise<void> {
    const { accountId, requestId, provider, request, offer } = order;
    const { orderLifeMs, firstCheckMs } = this.parts.config.payments;
    // An order that seemed open after the end of its checkout would lead to a page that takes no payment.
    const lifeMs = provider === 'stripe' ? Math.min(orderLifeMs, LONGEST_STRIPE_CHECKOUT_MS) : orderLifeMs;
    await lockAccount(client, accountId);
    await refuseTooMany(client, order);
    await countDaily(client, accountId, 'new orders');
    await client.query(INSERT, [
      newId(),
      accountId,
      requestId,
      JSON.stringify(request),
      provider,
      offer.credits,
      offer.payMinor,
      offer.currency,
      offer.rate,
      lifeMs,
      firstCheckMs,
    ]);
  }

  /** What was refunded of an order. */
  reversalsOf({ topupId }: TopupOrder): Promise<OrderReversals> {
    return readReversals(this.parts.pool, topupId);
  }

  /** @throws ApiError not_found, also for another account's */
  async show(accountId: string, orderId: string): Promise<TopupOrder> {
    const order = await this.parts.source.getRepository(TopupOrder).findOneBy({ id: orderId, accountId });
    if (order) return order;
    throw new ApiError('not_found', 'There is no such order.');
  }

  /** Newest first, one more than the limit if there are more. */
  list(accountId: string, limit: number, beforeId: string | null): Promise<TopupOrder[]> {
    return this.parts.source.getRepository(TopupOrder).find({
      where: { accountId, ...(beforeId === null ? {} : { id: LessThan(beforeId) }) },
      order: { id: 'DESC' },
      take: limit + 1,
    });
  }

  /** Stores the first checkout, because a provider returns the same one for a repeat. */
  async setCheckout(orderId: string, { reference, url }: Checkout): Promise<void> {
    await this.parts.pool.query(
      `UPDATE topup_orders SET provider_reference = $2, checkout_url = $3
       WHERE id = $1 AND provider_reference IS NULL`,
      [orderId, reference, url],
    );
  }

  /** Ends an order that can no longer be paid, if it is still open. */
  async end(orderId: string, as: 'expired' | 'cancelled'): Promise<void> {
    await this.parts.pool.query(
      `UPDATE topup_orders SET state = $2 WHERE id = $1 AND state = 'open' AND ($2 = 'cancelled' OR expires_at <= now())`,
      [orderId, as],
    );
  }

  /**
   * Open orders that are due for a check, reserved for this caller meanwhile. The pause before the next check grows
   * with the order's age, so that old orders cost little.
   */
  async claimDue(limit: number, providers: readonly PaymentProviderName[]): Promise<TopupOrder[]> {
    const { rows } = await this.parts.pool.query<{ id: string }>(
      `UPDATE topup_orders SET next_check_at = now() + least(greatest(now() - created_at,
         $1::float8 * interval '1 millisecond'), interval '15 minutes')
       WHERE id IN (SELECT id FROM topup_orders WHERE state = 'open' AND next_check_at <= now() AND provider = ANY($2)
         ORDER BY next_check_at LIMIT $3 FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [this.parts.config.payments.firstCheckMs, providers, limit],
    );
    if (rows.length === 0) return [];
    return this.parts.source.getRepository(TopupOrder).findBy({ id: In(rows.map(({ id }) => id)) });
  }
}

function askOf(wish: TopupWish): { credits: string } | { pay: string } {
  return 'credits' in wish ? { credits: formatAmount(wish.credits) } : { pay: viewPayment(wish.payMinor) };
}

function same(order: TopupOrder, request: TopupOrder['request']): TopupOrder {
  if (isDeepStrictEqual(order.request, request)) return order;
  throw new ApiError('conflict', 'This requestId was used for another order.', { param: 'requestId' });
}

async function refuseTooMany(client: pg.ClientBase, { accountId, requestId }: OrderRow): Promise<void> {
  const { rows } = await client.query<{ open: number }>(
    `SELECT count(*)::int AS open FROM topup_orders
     WHERE account_id = $1 AND request_id <> $2 AND state = 'open' AND expires_at > now()`,
    [accountId, requestId],
  );
  if ((rows[0]?.open ?? 0) < MAX_OPEN) return;
  throw new ApiError('conflict', `An account can have at most ${MAX_OPEN} open orders. Pay or cancel one.`);
}
