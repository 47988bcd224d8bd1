import type pg from 'pg';
import { type DeferredLot, deferredLots, type DeferredLotsQuery } from '../reports/deferred-lots.js';
import { type OpenHold, type HoldsQuery, readHolds } from '../reports/holds.js';
import { type FailedCharge, type FailuresQuery, readFailures } from '../reports/refunds.js';
import { inSnapshot } from '../snapshot.js';
import { type LotView, viewLot } from './deferred-revenue.view.js';
import { failureView, type FailureView, holdView, type HoldView } from './work-reports.view.js';

/** All rows of lists, for files: page by page, so that memory stays flat. */

/** Rows that are read at once. */
const FILE_PAGE = 1_000;

export type LotsAsked = Pick<DeferredLotsQuery, 'to' | 'accountId' | 'leftOnly'>;

/** All lots of credit. */
export function everyLot(pool: pg.Pool, asked: LotsAsked, currency: string): AsyncGenerator<LotView> {
  const rows = everyRow<DeferredLot>((last) =>
    deferredLots(pool, { ...asked, limit: FILE_PAGE, after: last && last.lotId }),
  );
  return viewed(rows, (lot) => viewLot(lot, currency));
}

/** All that is held, for a file. */
export function everyHold(
  pool: pg.Pool,
  asked: Pick<HoldsQuery, 'graceMs' | 'overdueOnly'>,
): AsyncGenerator<HoldView> {
  const rows = everyRow<OpenHold>((last) => {
    const after = last && { heldSince: last.heldSince, chargeId: last.chargeId };
    return inSnapshot(pool, (client) => readHolds(client, { ...asked, limit: FILE_PAGE, after }));
  });
  return viewed(rows, holdView);
}

/** All failures of a time, for a file. */
export function everyFailure(
  pool: pg.Pool,
  asked: Pick<FailuresQuery, 'from' | 'to' | 'outstandingOnly'>,
): AsyncGenerator<FailureView> {
  const rows = everyRow<FailedCharge>((last) => {
    const after = last && { failedAt: last.failedAt, chargeId: last.chargeId };
    return inSnapshot(pool, (client) => readFailures(client, { ...asked, limit: FILE_PAGE, after }));
  });
  return viewed(rows, failureView);
}

/** All rows of a list, page by page, each on a snapshot of its own. */
async function* everyRow<T>(read: (last: T | null) => Promise<T[]>): AsyncGenerator<T> {
  for (let last: T | null = null; ;) {
    const page: T[] = await read(last);
    yield* page;
    if (page.length < FILE_PAGE) return;
    last = page.at(-1) ?? null;
  }
}

async function* viewed<T, V>(rows: AsyncIterable<T>, view: (row: T) => V): AsyncGenerator<V> {
  for await (const row of rows) yield view(row);
}
