import type pg from 'pg';
import type { z } from 'zod';
import type { RowOf } from '#platform/http/fields.js';
import { type Page, pageFrom, readCursor, readCursorInstant } from '#platform/http/page.js';
import { mayBecome } from './suspense/suspense.item.js';
import type { HouseConfig } from './finance-credit.js';
import type { disputeView, eventView, listedRefundView, suspenseView, topupView } from './finance.view.js';

/** A row of this shape. Some of its times are there as text too, to the microsecond, for the cursor. */
type Row<S extends z.ZodType, Text extends string = never> = RowOf<S, Date> & Record<Text, string>;

interface Listing {
  /** Conditions, with their values. */
  where: [sql: string, value: unknown][];
  limit: number;
  cursor?: string | undefined;
}

export interface FinanceReaderParts {
  readonly pool: pg.Pool;
  readonly config: HouseConfig;
}

/** The lists for finance, newest first. */
export class FinanceReader {
  constructor(private readonly parts: FinanceReaderParts) {}

  topups(listing: Listing): Promise<Page<Row<typeof topupView>>> {
    return this.page(
      `SELECT t.id, t.account_id AS "accountId", t.provider, t.payment_id AS "paymentId", t.order_id AS "orderId", t.credits,
         t.paid_minor AS paid, t.currency, trim_scale(t.rate)::text AS rate, t.recorded_at AS "recordedAt",
         (SELECT coalesce(sum(r.credits), 0)::bigint FROM topup_refunds r WHERE r.topup_id = t.id AND r.state <> 'failed')
           AS refunded,
         (SELECT coalesce(sum(d.credits), 0)::bigint FROM disputes d WHERE d.topup_id = t.id AND d.state <> 'won') AS disputed
       FROM topups t`,
      { ...listing, columns: ['t.id'], keyOf: ({ id }) => [id] },
    );
  }

  suspense(listing: Listing): Promise<Page<Row<typeof suspenseView>>> {
    return this.page(
      `SELECT id, provider, reference, order_id AS "orderId", payment_id AS "paymentId", amount_minor AS amount, currency, why, state,
         cleared_by AS "clearedBy", cleared_at AS "clearedAt", note, topup_id AS "topupId", created_at AS "createdAt",
         ${mayBecome('$1')} AS "mayBecome"
       FROM suspense_items i`,
      { ...listing, values: [this.parts.config.payments.currency], columns: ['id'], keyOf: ({ id }) => [id] },
    );
  }

  events(listing: Listing): Promise<Page<Row<typeof eventView, 'receivedText'>>> {
    return this.page(
      `SELECT provider, event_id AS "eventId", type, state, detail, payment_id AS "paymentId", order_id AS "orderId",
         attempts, received_at AS "receivedAt", received_at::text AS "receivedText" FROM payment_events`,
      {
        ...listing,
        columns: ['received_at', 'provider', 'event_id'],
        keyOf: ({ receivedText, provider, eventId }) => [receivedText, provider, eventId],
      },
    );
  }

  refunds(listing: Listing): Promise<Page<Row<typeof listedRefundView>>> {
    return this.page(
      `SELECT r.id, r.topup_id AS "topupId", r.account_id AS "accountId", t.provider, r.credits, r.paid_minor AS pay,
         t.currency, r.reason, r.state, r.provider_refund_id AS "providerRefundId", r.failure, r.attempts,
         r.created_at AS "createdAt", r.ended_at AS "endedAt"
       FROM topup_refunds r JOIN topups t ON t.id = r.topup_id`,
      { ...listing, columns: ['r.id'], keyOf: ({ id }) => [id] },
    );
  }

  disputes(listing: Listing): Promise<Page<Row<typeof disputeView, 'openedText'>>> {
    return this.page(
      `SELECT d.provider, d.dispute_id AS "disputeId", d.topup_id AS "topupId", d.account_id AS "accountId",
         d.amount_minor AS amount, t.currency, d.credits, d.state, d.opened_at AS "openedAt",
         d.opened_at::text AS "openedText", d.closed_at AS "closedAt"
       FROM disputes d JOIN topups t ON t.id = d.topup_id`,
      {
        ...listing,
        columns: ['d.opened_at', 'd.provider', 'd.dispute_id'],
        keyOf: ({ openedText, provider, disputeId }) => [openedText, provider, disputeId],
      },
    );
  }

  /** `columns` are the sort columns, the last of them unique. The cursor contains their values. `values` are those of `select`. */
  private async page<T extends object>(
    select: string,
    {
      where,
      limit,
      cursor,
      columns,
      keyOf,
      values: given = [],
    }: Listing & {
      columns: string[];
      keyOf: (row: T) => string[];
      values?: unknown[];
    },
  ): Promise<Page<T>> {
    const values = [...given, ...where.map(([, value]) => value)];
    const conditions = where.map(([sql], index) => sql.replace('?', `$${given.length + index + 1}`));
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
