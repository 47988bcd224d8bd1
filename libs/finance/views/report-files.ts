import type pg from 'pg';
import { type DeferredLot, deferredLots, type DeferredLotsQuery } from '../reports/deferred-lots.js';
import { type OpenHold, type HoldsQuery, readHolds } from '../reports/holds.js';
import { type FailedCharge, type FailuresQuery, readFailures } from '../reports/refunds.js';
import { everyRow, shaped } from '#platform/http/csv.js';
import { inSnapshot } from '../snapshot.js';
import { viewLot } from './deferred-revenue.view.js';
import { failureShape, holdShape } from './work-reports.view.js';

/** Streams all rows of lists for files, page by page in constant memory. */

export type LotsAsked = Pick<DeferredLotsQuery, 'to' | 'accountId' | 'leftOnly'>;

/** All credit lots. */
export async function* everyLot(pool: pg.Pool, asked: LotsAsked, currency: string) {
  const rows = everyRow<DeferredLot>((limit, last) =>
    deferredLots(pool, { ...asked, limit, after: last && last.lotId }),
  );
  for await (const lot of rows) yield viewLot(lot, currency);
}

/** All holds, for a file. */
export function everyHold(pool: pg.Pool, asked: Pick<HoldsQuery, 'graceMs' | 'overdueOnly'>) {
  const rows = everyRow<OpenHold>((limit, last) => {
    const after = last && { heldSince: last.heldSince, chargeId: last.chargeId };
    return inSnapshot(pool, (client) => readHolds(client, { ...asked, limit, after }));
  });
  return shaped(holdShape, rows);
}

/** All failures within a time, for a file. */
export function everyFailure(pool: pg.Pool, asked: Pick<FailuresQuery, 'from' | 'to' | 'outstandingOnly'>) {
  const rows = everyRow<FailedCharge>((limit, last) => {
    const after = last && { failedAt: last.failedAt, chargeId: last.chargeId };
    return inSnapshot(pool, (client) => readFailures(client, { ...asked, limit, after }));
  });
  return shaped(failureShape, rows);
}
