import type pg from 'pg';
import type { IncomingHttpHeaders } from 'node:http';
import { inTransaction } from '#database/database.js';
import { lockOne } from '#database/locks.js';
import { isClosing } from '#identity/account.store.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { heldBetween } from '#ledger/postings/effective-time.js';
import { bookSuspense, type SuspenseWhy } from '#ledger/postings/suspense.js';
import { endTopupRefund, findTopupRefund } from '#ledger/postings/topup-refund.js';
import { creditTopup, type PaymentProviderName } from '#ledger/postings/topup.js';
import { nanos } from '#money/amount.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import { inTurn } from '#platform/in-turn.js';
import type { TopupRate } from '#topup/conversion.js';
import type { PaymentsConfig } from './payments.config.js';
import { viewPayment } from './payment.fields.js';
import { type EventOutcome, PaymentNotices } from './payment.notices.js';
import type { PaymentEvent, PaymentFact, PaymentProviders } from './payment.provider.js';
/** A fact, and when it happened as the provider told it, ISO 8601. */
type Told<K extends PaymentFact['kind']> = Extract<PaymentFact, { kind: K }> & { told: string | null };
type Paid = Told<'paid'>;

export interface PaymentInboxParts {
  readonly pool: pg.Pool;
  readonly config: { readonly payments: PaymentsConfig };
  readonly providers: PaymentProviders;
  readonly notices: PaymentNotices;
}

/**
 * Takes what providers say happened: each event once, by its id, in one transaction with everything that follows from it.
 * It is acknowledged after the commit, so what was not committed comes again.
 */
export class PaymentInbox {
  constructor(private readonly parts: PaymentInboxParts) {}

  /** The house's, ISO 4217. */
  get currency(): string {
    return this.parts.config.payments.currency;
  }

  /** @throws ApiError not_found for a provider that is not configured; invalid_request for a bad signature */
  async receive(name: string, rawBody: Buffer, headers: IncomingHttpHeaders): Promise<void> {
    const provider = this.parts.providers.get(name as PaymentProviderName);
    if (!provider) throw new ApiError('not_found', 'There is no such provider.');
    await this.accept(provider.verifyEvent(rawBody, headers));
  }

  /** Applies a verified event. Answers what became of it; null when it had been taken before. */
  async accept(event: PaymentEvent): Promise<EventOutcome | null> {
    const outcome = await inTransaction(this.parts.pool, async (client) => {
      if (!(await insertEvent(client, event))) return null;
      const result = await this.apply(client, event);
      await this.store(client, event, result);
      return result;
    });
    crashPoint('payment.committed');
    this.parts.notices.committed(event, outcome);
    return outcome;
  }

  /** Tries events again that came too early and are due. Answers whether there may be more. */
  async retryWaiting(limit: number, signal: AbortSignal): Promise<boolean> {
    const events = await this.claimWaiting(limit);
    await inTurn(events, (event) => this.retry(event), signal);
    return events.length === limit;
  }

  private async claimWaiting(limit: number): Promise<PaymentEvent[]> {
    const { rows } = await this.parts.pool.query<WaitingRow>(
      `UPDATE payment_events SET next_try_at = now() + $1::float8 * interval '1 millisecond'
       WHERE (provider, event_id) IN (SELECT provider, event_id FROM payment_events
         WHERE state = 'waiting' AND next_try_at <= now() ORDER BY next_try_at LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING provider, event_id AS "eventId", type, payload`,
      [this.parts.config.payments.retryMs, limit],
    );
    return rows.map(({ payload: { happenedAt, ...payload }, ...event }) => ({
      ...event,
      fact: factFrom(payload),
      happenedAt: happenedAt ?? null,
    }));
  }

  private async retry(event: PaymentEvent): Promise<void> {
    const outcome = await inTransaction(this.parts.pool, async (client) => {
      const { rowCount } = await client.query(
        `SELECT FROM payment_events WHERE provider = $1 AND event_id = $2 AND state = 'waiting' FOR UPDATE`,
        [event.provider, event.eventId],
      );
      if (rowCount === 0) return null;
      const result = await this.apply(client, event);
      await this.store(client, event, result);
      return result;
    });
    if (outcome && outcome.state !== 'waiting') this.parts.notices.committed(event, outcome);
  }

  private async apply(client: pg.PoolClient, event: PaymentEvent): Promise<EventOutcome> {
    const { provider, fact, happenedAt: told = null } = event;
    switch (fact.kind) {
      case 'paid':
        return this.applyPayment(client, provider, { ...fact, told });
      case 'ended':
        return endOrder(client, provider, fact);
      case 'refund':
        return this.applyRefund(client, provider, { ...fact, told });
      case 'dispute':
        return this.applyDispute(client, provider, { ...fact, told });
      case 'nothing':
        return { state: 'ignored', detail: 'It does not concern us.' };
    }
  }

  /** Credits the order that a payment pays to the minor unit; any other payment goes to suspense, as for an account being deleted. */
  private async applyPayment(
    client: pg.PoolClient,
    provider: PaymentProviderName,
    paid: Paid,
  ): Promise<EventOutcome> {
    await lockPayment(client, provider, paid.paymentId);
    const order = await lockOrder(client, provider, paid.orderId);
    const known = await isKnown(client, provider, paid.paymentId);
    if (known) return { state: 'ignored', detail: known };
    const why =
      mismatch(order, paid) ?? (order && (await isClosing(client, order.accountId)) ? 'no_order' : null);
    if (why || !order) return this.suspend(client, provider, { paid, order, why: why ?? 'no_order' });
    const { topupId } = await creditTopup(client, {
      accountId: order.accountId,
      provider,
      paymentId: paid.paymentId,
      credits: nanos(order.credits),
      paidMinor: order.paidMinor,
      rate: order.rate,
      currency: order.currency,
      orderId: order.id,
      paidAt: heldBetween(paid.told, order.createdAt, new Date()),
    });
    await client.query(
      `UPDATE topup_orders SET state = 'paid', payment_id = $2, topup_id = $3, paid_at = now()
       WHERE id = $1 AND state IN ('open', 'expired', 'cancelled')`,
      [order.id, paid.paymentId, topupId],
    );
    return { state: 'applied', detail: `Order ${order.id} is paid: top-up ${topupId}.` };
  }

  private async suspend(
    client: pg.PoolClient,
    provider: PaymentProviderName,
    { paid, order, why }: { paid: Paid; order: LockedOrder | null; why: SuspenseWhy },
  ): Promise<EventOutcome> {
    const { paymentId: reference, amountMinor, currency } = paid;
    if (amountMinor <= 0n) return { state: 'ignored', detail: 'Nothing was paid.' };
    const happenedAt = withoutAccount(paid.told);
    const item = { provider, reference, orderId: order?.id ?? null, amountMinor, currency, why, happenedAt };
    const { itemId } = await bookSuspense(client, item, this.parts.config.payments.currency);
    const wanted = order ? `${viewPayment(order.paidMinor)} ${order.currency}` : 'no order';
    const detail = `${viewPayment(amountMinor)} ${currency} came for ${wanted}: suspense ${itemId}.`;
    return { state: 'suspense', detail, alert: why };
  }

  private async applyRefund(
    client: pg.PoolClient,
    provider: PaymentProviderName,
    fact: Told<'refund'>,
  ): Promise<EventOutcome> {
    const { refundId, providerRefundId, state: outcome, failure, told } = fact;
    const known = refundId === null ? null : await findTopupRefund(client, refundId);
    if (refundId === null || known?.provider !== provider) return this.foreignRefund(client, provider, fact);
    const endedAt = await ofAccount(client, known.accountId, told);
    const end = { refundId, providerRefundId, outcome, failure, endedAt };
    const refund = await endTopupRefund(client, end);
    if (refund.state === outcome) return { state: 'applied', detail: `Refund ${refundId} has ${outcome}.` };
    if (refund.state !== 'succeeded') {
      return { state: 'ignored', detail: `Refund ${refundId} had ended as ${refund.state}.` };
    }
    return this.refundCameBack(client, provider, fact);
  }

  /** The bank sent back what we had booked as refunded: the money is here again, and nobody's. */
  private async refundCameBack(
    client: pg.PoolClient,
    provider: PaymentProviderName,
    { providerRefundId: reference, amountMinor, currency, told }: Told<'refund'>,
  ): Promise<EventOutcome> {
    const why = 'refund_failed';
    const happenedAt = withoutAccount(told);
    const item = { provider, reference, orderId: null, amountMinor, currency, why, happenedAt } as const;
    const { itemId } = await bookSuspense(client, item, this.parts.config.payments.currency);
    return { state: 'suspense', detail: `A refund came back after its end: suspense ${itemId}.`, alert: why };
  }

  /** Somebody gave money back at the provider itself; what we owe for it is for people to say. */
  private async foreignRefund(
    client: pg.PoolClient,
    provider: PaymentProviderName,
    fact: Told<'refund'>,
  ): Promise<EventOutcome> {
    if (fact.state === 'failed' || fact.amountMinor <= 0n) {
      return { state: 'ignored', detail: 'A refund that we did not ask for failed.' };
    }
    const { providerRefundId: reference, currency } = fact;
    const why = 'unknown_refund';
    const item = {
      provider,
      reference,
      orderId: null,
      amountMinor: -fact.amountMinor,
      currency,
      why,
      happenedAt: withoutAccount(fact.told),
    } as const;
    const { itemId } = await bookSuspense(client, item, this.parts.config.payments.currency);
    return { state: 'suspense', detail: `A refund that we did not ask for: suspense ${itemId}.`, alert: why };
  }

  private async applyDispute(
    client: pg.PoolClient,
    provider: PaymentProviderName,
    { disputeId, paymentId, state, amountMinor, currency, told }: Told<'dispute'>,
  ): Promise<EventOutcome> {
    await lockPayment(client, provider, paymentId);
    const { rows } = await client.query<{ topupId: string; accountId: string }>(
      `SELECT id AS "topupId", account_id AS "accountId" FROM topups
       WHERE provider = $1 AND payment_id = $2 AND currency = $3`,
      [provider, paymentId, currency],
    );
    const topup = rows[0];
    if (!topup) {
      const detail = `Payment ${paymentId} in ${currency} is not known (yet).`;
      return { state: 'waiting', detail, alert: 'unknown_dispute' };
    }
    const house = this.parts.config.payments.currency;
    const happenedAt = await ofAccount(client, topup.accountId, told);
    await applyDispute(client, { provider, disputeId, ...topup, amountMinor, state, happenedAt }, house);
    return { state: 'applied', detail: `The dispute of top-up ${topup.topupId} is ${state}.` };
  }

  private async store(
    client: pg.PoolClient,
    event: PaymentEvent,
    { state, detail }: EventOutcome,
  ): Promise<void> {
    await client.query(
      `UPDATE payment_events SET state = $3, detail = $4, handled_at = now(),
         attempts = attempts + CASE WHEN state = 'waiting' THEN 1 ELSE 0 END,
         next_try_at = CASE WHEN $3 = 'waiting' THEN now() + least(greatest(now() - received_at,
           $5::float8 * interval '1 millisecond'), interval '1 hour') END
       WHERE provider = $1 AND event_id = $2`,
      [event.provider, event.eventId, state, detail, this.parts.config.payments.retryMs],
    );
  }
}

interface WaitingRow extends Omit<PaymentEvent, 'fact'> {
  payload: PaymentFact & { amountMinor?: string; happenedAt?: string | null };
}

/** A provider tells of no older facts, and what it says of an older one is a mistake. */
const OLDEST_FACT_MS = 90 * 24 * 3_600_000;

/** When a fact that belongs to no account happened. */
function withoutAccount(told: string | null): string | null {
  const now = new Date();
  return heldBetween(told, new Date(now.getTime() - OLDEST_FACT_MS), now);
}

/** When a fact of an account happened: not before the account was there. */
async function ofAccount(
  client: pg.PoolClient,
  accountId: string,
  told: string | null,
): Promise<string | null> {
  const { rows } = await client.query<{ at: Date }>('SELECT created_at AS at FROM accounts WHERE id = $1', [
    accountId,
  ]);
  return heldBetween(told, rows[0]?.at ?? new Date(), new Date());
}

/** As it was stored: JSON knows no bigint. */
function factFrom(payload: PaymentFact & { amountMinor?: string }): PaymentFact {
  if (payload.amountMinor === undefined) return payload;
  return { ...payload, amountMinor: BigInt(payload.amountMinor) } as PaymentFact;
}

interface LockedOrder {
  id: string;
  accountId: string;
  credits: bigint;
  paidMinor: bigint;
  currency: string;
  rate: TopupRate;
  state: string;
  createdAt: Date;
}

function mismatch(order: LockedOrder | null, paid: Paid): SuspenseWhy | null {
  if (!order) return 'no_order';
  if (order.currency !== paid.currency) return 'other_currency';
  if (order.paidMinor !== paid.amountMinor) return 'other_amount';
  return ['open', 'expired', 'cancelled'].includes(order.state) ? null : 'paid_twice';
}

/** @returns false when it was taken before; waits for one that is being taken */
async function insertEvent(client: pg.PoolClient, event: PaymentEvent): Promise<boolean> {
  const { provider, eventId, type, fact, happenedAt = null } = event;
  const payload = JSON.stringify({ ...fact, happenedAt }, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  const { rowCount } = await client.query(
    `INSERT INTO payment_events (provider, event_id, type, payload, state, detail, payment_id, order_id)
     VALUES ($1, $2, $3, $4, 'ignored', '', $5, $6) ON CONFLICT (provider, event_id) DO NOTHING`,
    [
      provider,
      eventId,
      type,
      payload,
      'paymentId' in fact ? fact.paymentId : null,
      'orderId' in fact ? fact.orderId : null,
    ],
  );
  return rowCount === 1;
}

/** Events of one payment wait for each other, whatever else they name. */
async function lockPayment(client: pg.PoolClient, provider: string, paymentId: string): Promise<void> {
  await lockOne(client, 'payment', provider, paymentId);
}

async function lockOrder(
  client: pg.PoolClient,
  provider: string,
  orderId: string | null,
): Promise<LockedOrder | null> {
  const { rows } = await client.query<LockedOrder>(
    `SELECT id, account_id AS "accountId", credits, paid_minor AS "paidMinor", currency, trim_scale(rate)::text AS rate, state,
       created_at AS "createdAt"
     FROM topup_orders WHERE id = $1 AND provider = $2 FOR UPDATE`,
    [orderId, provider],
  );
  return rows[0] ?? null;
}

async function isKnown(client: pg.PoolClient, provider: string, paymentId: string): Promise<string | null> {
  const { rows } = await client.query<{ credited: boolean; suspended: boolean }>(
    `SELECT EXISTS (SELECT FROM topups WHERE provider = $1 AND payment_id = $2) AS credited,
       EXISTS (SELECT FROM suspense_items WHERE provider = $1 AND reference = $2 AND amount_minor > 0) AS suspended`,
    [provider, paymentId],
  );
  if (rows[0]?.credited) return `Payment ${paymentId} has been credited before.`;
  if (rows[0]?.suspended) return `Payment ${paymentId} stands in suspense already.`;
  return null;
}

async function endOrder(
  client: pg.PoolClient,
  provider: string,
  { orderId, as }: Extract<PaymentFact, { kind: 'ended' }>,
): Promise<EventOutcome> {
  const { rowCount } = await client.query(
    `UPDATE topup_orders SET state = $3 WHERE id = $1 AND provider = $2 AND state = 'open'`,
    [orderId, provider, as],
  );
  if (rowCount === 0) return { state: 'ignored', detail: 'The order was not open.' };
  return { state: 'applied', detail: `Order ${orderId} is ${as}.` };
}
