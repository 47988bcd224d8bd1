import { Controller, Inject } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { type Hold, type HoldsQuery, readHolds, readHoldTotals } from '#finance/reports/holds.js';
import { readPromotion } from '#finance/reports/promotion.js';
import { type Failure, type FailuresQuery, readFailures, readRefundDays } from '#finance/reports/refunds.js';
import { inSnapshot } from '#finance/snapshot.js';
import { atHorizon } from '#ledger/horizon.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { BillingConfig } from '../billing.config.js';
import { CLOCK, CONFIG, POOL } from '../billing.tokens.js';
import { sendCsv } from '../http/csv.js';
import { isInstantText, pageFrom, readCursor } from '../http/page.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { workReportRoutes as routes } from './work-reports.routes.js';
import {
  failureColumns,
  failureView,
  holdColumns,
  holdTotalsView,
  holdView,
  promotionView,
  refundDayView,
} from './work-reports.view.js';

const DAY_MS = 24 * 3_600_000;
const DAYS_SHOWN = 31;
const MOST_DAYS = 92;
/** Rows of a file that are read at once. */
const FILE_PAGE = 1_000;

/** What became of the work that was paid for: holds, refunds of what failed, and what invites cost. */
@Controller()
export class WorkReportsController {
  private readonly graceMs: number;

  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) config: BillingConfig,
  ) {
    this.graceMs = config.reconcile.graceMs;
  }

  @Serves(routes.holds)
  async holds({ query }: CallOf<typeof routes.holds>): Promise<AnswerOf<typeof routes.holds>> {
    const { limit, cursor, overdue } = query;
    const key = timeCursor(cursor);
    const asked: HoldsQuery = {
      ...{ graceMs: this.graceMs, limit: limit + 1, overdueOnly: overdue === 'true' },
      after: key && { heldSince: key.at, chargeId: key.id },
    };
    return inSnapshot(this.pool, async (client) => {
      const rows = await readHolds(client, asked);
      const page = pageFrom(rows, limit, ({ heldSince, chargeId }) => [heldSince, chargeId]);
      const totals = await readHoldTotals(client, this.graceMs);
      return { ...holdTotalsView(totals), ...page, items: page.items.map(holdView) };
    });
  }

  @Serves(routes.holdsCsv)
  holdsCsv({ query, reply }: CallOf<typeof routes.holdsCsv>): Readable {
    const asked = { graceMs: this.graceMs, limit: FILE_PAGE, overdueOnly: query.overdue === 'true' };
    const rows = everyRow<Hold>(FILE_PAGE, (last) => {
      const after = last && { heldSince: last.heldSince, chargeId: last.chargeId };
      return inSnapshot(this.pool, (client) => readHolds(client, { ...asked, after }));
    });
    return sendCsv(reply, 'holds.csv', holdColumns, viewed(rows, holdView));
  }

  @Serves(routes.refunds)
  async refunds({ query }: CallOf<typeof routes.refunds>): Promise<AnswerOf<typeof routes.refunds>> {
    const range = this.rangeOf(query);
    const days = await inSnapshot(this.pool, (client) => readRefundDays(client, range));
    return { from: range.from.toISOString(), to: range.to.toISOString(), days: days.map(refundDayView) };
  }

  @Serves(routes.failures)
  async failures({ query }: CallOf<typeof routes.failures>): Promise<AnswerOf<typeof routes.failures>> {
    const { limit, cursor, outstanding } = query;
    const key = timeCursor(cursor);
    const asked: FailuresQuery = {
      ...{ ...this.rangeOf(query), limit: limit + 1, outstandingOnly: outstanding === 'true' },
      after: key && { failedAt: key.at, chargeId: key.id },
    };
    const rows = await inSnapshot(this.pool, (client) => readFailures(client, asked));
    const page = pageFrom(rows, limit, ({ failedAt, chargeId }) => [failedAt, chargeId]);
    return { ...page, items: page.items.map(failureView) };
  }

  @Serves(routes.failuresCsv)
  failuresCsv({ query, reply }: CallOf<typeof routes.failuresCsv>): Readable {
    const asked = { ...this.rangeOf(query), limit: FILE_PAGE, outstandingOnly: query.outstanding === 'true' };
    const rows = everyRow<Failure>(FILE_PAGE, (last) => {
      const after = last && { failedAt: last.failedAt, chargeId: last.chargeId };
      return inSnapshot(this.pool, (client) => readFailures(client, { ...asked, after }));
    });
    return sendCsv(reply, 'failures.csv', failureColumns, viewed(rows, failureView));
  }

  @Serves(routes.promotion)
  async promotion({ query }: CallOf<typeof routes.promotion>): Promise<AnswerOf<typeof routes.promotion>> {
    const { from = null, to = null } = query;
    return promotionView(
      await atHorizon(this.pool, (client, horizon) => readPromotion(client, horizon, { from, to })),
    );
  }

  /** @throws ApiError for a time that ends before it begins, or is longer than a report may be */
  private rangeOf(query: { from?: Date | undefined; to?: Date | undefined }): { from: Date; to: Date } {
    const to = query.to ?? new Date(this.clock.nowMs());
    const from = query.from ?? new Date(to.getTime() - DAYS_SHOWN * DAY_MS);
    const lengthMs = to.getTime() - from.getTime();
    if (lengthMs > 0 && lengthMs <= MOST_DAYS * DAY_MS) return { from, to };
    const message = `from: must be before to, by at most ${MOST_DAYS} days.`;
    throw new ApiError('invalid_value', message, { param: 'from' });
  }
}

function timeCursor(cursor: string | undefined): { at: string; id: string } | null {
  const key = readCursor(cursor, 2);
  if (!key) return null;
  const [at = '', id = ''] = key;
  if (!isInstantText(at)) readCursor('', 2);
  return { at, id };
}

/** All rows of a list, page by page, each on a snapshot of its own. */
async function* everyRow<T>(pageSize: number, read: (last: T | null) => Promise<T[]>): AsyncGenerator<T> {
  for (let last: T | null = null; ;) {
    const page: T[] = await read(last);
    yield* page;
    if (page.length < pageSize) return;
    last = page.at(-1) ?? null;
  }
}

async function* viewed<T, V>(rows: AsyncIterable<T>, view: (row: T) => V): AsyncGenerator<V> {
  for await (const row of rows) yield view(row);
}
