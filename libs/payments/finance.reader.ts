import type pg from 'pg';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import type { SuspenseWhy } from '#ledger/postings/suspense.js';
import type { TopupRate } from '#topup/conversion.js';
import { type Page, pageFrom, readCursor, readCursorInstant } from '#platform/http/page.js';

export interface TopupRow {
  id: string;
  accountId: string;
  provider: PaymentProviderName;
  paymentId: string;
  orderId: string | null;
  credits: bigint;
  paidMinor: bigint;
  currency: string;
  rate: TopupRate;
  refunded: bigint;
  disputed: bigint;
  recordedAt: Date;
}

export interface SuspenseRow {
  id: string;
  provider: PaymentProviderName;
  reference: string;
  orderId: string | null;
  amountMinor: bigint;
  currency: string;
  why: SuspenseWhy;
  state: 'open' | 'credited' | 'returned' | 'expensed';
  clearedBy: string | null;
  clearedAt: Date | null;
  note: string | null;
  topupId: string | null;
  createdAt: Date;
}

export interface EventRow {
  provider: PaymentProviderName;
  eventId: string;
  type: string;
  state: 'applied' | 'ignored' | 'suspense' | 'waiting';
  detail: string;
  paymentId: string | null;
  orderId: string | null;
  attempts: number;
  receivedAt: Date;
  /** The same to the microsecond, for the cursor. */
  receivedText: string;
}

export interface RefundRow {
  id: string;
  topupId: string;
  accountId: string;
  provider: PaymentProviderName;
  credits: bigint;
  paidMinor: bigint;
  currency: string;
  reason: string;
  state: 'pending' | 'succeeded' | 'failed';
  providerRefundId: string | null;
  failure: string | null;
  attempts: number;
  createdAt: Date;
  endedAt: Date | null;
}

export interface DisputeRow {
  provider: PaymentProviderName;
  disputeId: string;
  topupId: string;
  accountId: string;
  amountMinor: bigint;
  currency: string;
  credits: bigint;
  state: 'open' | 'won' | 'lost';
  openedAt: Date;
  openedText: string;
  closedAt: Date | null;
}

interface Listing {
  /** Conditions, with their values from $1 on. */
  where: [sql: string, value: unknown][];
  limit: number;
  cursor?: string | undefined;
}

export interface FinanceReaderParts {
  readonly pool: pg.Pool;
}

/** The lists for finance, newest first. */
export class FinanceReader {
  constructor(private readonly parts: FinanceReaderParts) {}

  topups(listing: Listing): Promise<Page<TopupRow>> {
    return this.page<TopupRow>(
      `SELECT t.id, t.account_id AS "accountId", t.provider, t.payment_id AS "paymentId", t.order_id AS "orderId", t.credits,
         t.paid_minor AS "paidMinor", t.currency, trim_scale(t.rate)::text AS rate, t.recorded_at AS "recordedAt",
         (SELECT coalesce(sum(r.credits), 0)::bigint FROM topup_refunds r WHERE r.topup_id = t.id AND r.state <> 'failed')
           AS refunded,
         (SELECT coalesce(sum(d.credits), 0)::bigint FROM disputes d WHERE d.topup_id = t.id AND d.state <> 'won') AS disputed
       FROM topups t`,
      { ...listing, columns: ['t.id'], keyOf: ({ id }) => [id] },
    );
  }

  suspense(listing: Listing): Promise<Page<SuspenseRow>> {
    return this.page<SuspenseRow>(
      `SELECT id, provider, reference, order_id AS "orderId", amount_minor AS "amountMinor", currency, why, state,
         cleared_by AS "clearedBy", cleared_at AS "clearedAt", note, topup_id AS "topupId", created_at AS "createdAt"
       FROM suspense_items`,
      { ...listing, columns: ['id'], keyOf: ({ id }) => [id] },
    );
  }

  events(listing: Listing): Promise<Page<EventRow>> {
    return this.page<EventRow>(
      `SELECT provider, event_id AS "eventId", type, state, detail, payment_id AS "paymentId", order_id AS "orderId",
         attempts, received_at AS "receivedAt", received_at::text AS "receivedText" FROM payment_events`,
      {
        ...listing,
        columns: ['received_at', 'provider', 'event_id'],
        keyOf: ({ receivedText, provider, eventId }) => [receivedText, provider, eventId],
      },
    );
  }

  refunds(listing: Listing): Promise<Page<RefundRow>> {
    return this.page<RefundRow>(
      `SELECT r.id, r.topup_id AS "topupId", r.account_id AS "accountId", t.provider, r.credits, r.paid_minor AS "paidMinor",
         t.currency, r.reason, r.state, r.provider_refund_id AS "providerRefundId", r.failure, r.attempts,
         r.created_at AS "createdAt", r.ended_at AS "endedAt"
       FROM topup_refunds r JOIN topups t ON t.id = r.topup_id`,
      { ...listing, columns: ['r.id'], keyOf: ({ id }) => [id] },
    );
  }

  disputes(listing: Listing): Promise<Page<DisputeRow>> {
    return this.page<DisputeRow>(
      `SELECT d.provider, d.dispute_id AS "disputeId", d.topup_id AS "topupId", d.account_id AS "accountId",
         d.amount_minor AS "amountMinor", t.currency, d.credits, d.state, d.opened_at AS "openedAt",
         d.opened_at::text AS "openedText", d.closed_at AS "closedAt"
       FROM disputes d JOIN topups t ON t.id = d.topup_id`,
      {
        ...listing,
        columns: ['d.opened_at', 'd.provider', 'd.dispute_id'],
        keyOf: ({ openedText, provider, disputeId }) => [openedText, provider, disputeId],
      },
    );
  }

  /** `columns` are the sort columns, the last of them unique. The cursor contains their values. */
  private async page<T extends object>(
    select: string,
    { where, limit, cursor, columns, keyOf }: Listing & { columns: string[]; keyOf: (row: T) => string[] },
  ): Promise<Page<T>> {
    const values = where.map(([, value]) => value);
    const conditions = where.map(([sql], index) => sql.replace('?', `$${index + 1}`));
    const read = columns.length > 1 ? readCursorInstant : readCursor;
    const key = read(cursor, columns.length);
    if (key) {
      const places = key.map((_, index) => `$${values.length + index + 1}`);
      conditions.push(`(${columns.join(', ')}) < (${places.join(', ')})`);
      values.push(...key);
    }
    const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const order = columns.map((column) => `${column} DESC`).join(', ');
    const { rows } = await this.parts.pool.query<T>(
      `${select} ${filter} ORDER BY ${order} LIMIT ${limit + 1}`,
      values,
    );
    return pageFrom(rows, limit, keyOf);
  }
}
