import type pg from 'pg';
import type { IncomingHttpHeaders } from 'node:http';
import { inTransaction } from '#database/database.js';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import { eachInTurn } from '#platform/waiting.js';
import { applyFact } from './facts/apply-fact.js';
import type { PaymentsConfig } from './payments.config.js';
import { type EventOutcome, PaymentNotices } from './payment.notices.js';
import type { PaymentEvent, PaymentFact, PaymentProviders } from './payment.provider.js';

export interface PaymentInboxParts {
  readonly pool: pg.Pool;
  readonly config: { readonly payments: PaymentsConfig };
  readonly providers: PaymentProviders;
  readonly notices: PaymentNotices;
}

/**
 * Receives providers' events: each once, by its id, in one transaction with everything that follows from it. It is
 * acknowledged after the commit, so what was not committed arrives again.
 */
export class PaymentInbox {
  constructor(private readonly parts: PaymentInboxParts) {}

  /** The installation's currency, ISO 4217. */
  get currency(): string {
    return this.parts.config.payments.currency;
  }

  /** @throws ApiError not_found for a provider that is not configured; invalid_request for a bad signature */
  async receive(name: string, rawBody: Buffer, headers: IncomingHttpHeaders): Promise<void> {
    const provider = this.parts.providers.get(name as PaymentProviderName);
    if (!provider) throw new ApiError('not_found', 'There is no such provider.');
    await this.accept(provider.verifyEvent(rawBody, headers));
  }

  /** Applies a verified event. @returns the result; null if it was already processed */
  async accept(event: PaymentEvent): Promise<EventOutcome | null> {
    const outcome = await inTransaction(this.parts.pool, (client) => this.acceptWithin(client, event));
    crashPoint('payment.committed');
    this.announce(event, outcome);
    return outcome;
  }

  /** Applies a verified event in the caller's transaction, which calls `announce` after its commit. */
  async acceptWithin(client: pg.PoolClient, event: PaymentEvent): Promise<EventOutcome | null> {
    if (!(await insertEvent(client, event))) return null;
    const result = await applyFact(client, { ...event, house: this.currency });
    await this.store(client, event, result);
    return result;
  }

  announce(event: Parameters<PaymentNotices['committed']>[0], outcome: EventOutcome | null): void {
    this.parts.notices.committed(event, outcome);
  }

  /** Retries due events that came too early. @returns whether there may be more */
  async retryWaiting(limit: number, signal: AbortSignal): Promise<boolean> {
    const events = await this.claimWaiting(limit);
    await eachInTurn(events, (event) => this.retry(event), signal);
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
      const result = await applyFact(client, { ...event, house: this.currency });
      await this.store(client, event, result);
      return result;
    });
    if (outcome && outcome.state !== 'waiting') this.parts.notices.committed(event, outcome);
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

/** As stored, because JSON has no bigint. */
function factFrom(payload: PaymentFact & { amountMinor?: string }): PaymentFact {
  if (payload.amountMinor === undefined) return payload;
  return { ...payload, amountMinor: BigInt(payload.amountMinor) } as PaymentFact;
}

/** @returns false if it was already processed; waits for one in progress */
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
