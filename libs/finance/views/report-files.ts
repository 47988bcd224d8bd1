import type pg from 'pg';
import { itemShape, readWork, type WorkQuery } from '../reports/charges-tasks.js';
import { type DeferredLot, deferredLots, type DeferredLotsQuery } from '../reports/deferred-lots.js';
import { type HoldsQuery, readHolds } from '../reports/holds.js';
import { type FailuresQuery, readFailures } from '../reports/refunds.js';
import { everyRow } from '#platform/http/csv.js';
import { shown } from '#platform/http/fields.js';
import { listing } from '../listing.js';
import { viewLot } from './deferred-revenue.view.js';
import { failureShape, holdShape } from './work-reports.view.js';

/** Streams all rows of lists for files, page by page in constant memory. */

export type LotsAsked = Pick<DeferredLotsQuery, 'to' | 'accountId' | 'leftOnly'>;

export async function* everyLot(pool: pg.Pool, asked: LotsAsked, currency: string) {
  const rows = everyRow<DeferredLot>((limit, last) =>
    deferredLots(pool, { ...asked, limit, after: last && last.lotId }),
  );
  for await (const lot of rows) yield viewLot(lot, currency);
}

/** Holds, oldest first. */
export function holdListing(asked: Pick<HoldsQuery, 'graceMs' | 'overdueOnly'>) {
  return listing({
    by: ['heldSince', 'chargeId'],
    read: (client, page) => readHolds(client, { ...asked, ...page }),
    view: (hold) => shown(holdShape, hold),
  });
}

/** Failures within a time, newest first. */
export function failureListing(asked: Pick<FailuresQuery, 'from' | 'to' | 'outstandingOnly'>) {
  return listing({
    by: ['failedAt', 'chargeId'],
    read: (client, page) => readFailures(client, { ...asked, ...page }),
    view: (failure) => shown(failureShape, failure),
  });
}

/** Each page of a file reads the whole range, so there should be few. */
const WORK_PAGE = 20_000;

export function workListing(asked: Omit<WorkQuery, 'limit' | 'after'>) {
  return listing({
    by: ['at', 'subject'],
    read: (client, page) => readWork(client, { ...asked, ...page }),
    view: (item) => shown(itemShape, item),
    atOnce: WORK_PAGE,
  });
}
