import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import {
  FAULTY_WORK,
  readWork,
  readWorkDays,
  type WorkItem,
  type WorkQuery,
  type WorkRange,
  itemShape,
} from '#finance/reports/charges-tasks.js';
import { inSnapshot } from '#finance/snapshot.js';
import { ApiError } from '#platform/errors.js';
import { sendCsv, shaped, everyRow } from '#platform/http/csv.js';
import { pageFrom, readCursorInstant } from '#platform/http/page.js';
import { faultsOf, workColumns } from '#finance/views/charges-tasks.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { checkedTimes } from '../http/report-range.js';
import { chargesTasksRoutes as routes } from './charges-tasks.routes.js';

/** Rows of a file read at a time. Each page reads the whole range, so there should be few pages. */
const FILE_PAGE = 20_000;

type Filter = CallOf<typeof routes.items.csv>['query'];

/** Charges compared with the work that they pay for. */
@Controller()
export class ChargesTasksController extends Using({
  clock: CONTROL_PLANE_CLOCK,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(routes.days)
  async days({ query, database }: CallOf<typeof routes.days>) {
    const range = this.rangeOf(query);
    const days = await inSnapshot(database, (client) => readWorkDays(client, range));
    const { from, to } = range;
    return { from, to, faults: faultsOf(days), days };
  }

  @Serves(routes.items)
  async items({ query, database }: CallOf<typeof routes.items>) {
    const { limit, cursor } = query;
    const key = readCursorInstant(cursor, 2);
    const after = key && { at: key[0]!, subject: key[1]! };
    const asked: WorkQuery = { ...this.filterOf(query), limit: limit + 1, after };
    const rows = await inSnapshot(database, (client) => readWork(client, asked));
    return pageFrom(rows, limit, (item) => [item.at, item.subject]);
  }

  @Serves(routes.items.csv)
  itemsCsv({ query, database, reply }: CallOf<typeof routes.items.csv>): Readable {
    return sendCsv(
      reply,
      { fileName: 'charges-tasks.csv', columns: workColumns },
      shaped(itemShape, everyItem(database, this.filterOf(query))),
    );
  }

  /** @throws ApiError if both a state and faults are requested */
  private filterOf(query: Filter): Omit<WorkQuery, 'limit' | 'after'> {
    const { state, faults } = query;
    if (state !== undefined && faults)
      throw new ApiError('invalid_value', 'faults: give either a state or this.', { param: 'faults' });
    const states = faults ? FAULTY_WORK : state === undefined ? null : [state];
    return { ...this.rangeOf(query), states };
  }

  private rangeOf(query: Pick<Filter, 'from' | 'to'>): WorkRange {
    return { ...checkedTimes(query, this.clock.nowMs()), graceMs: this.config.reconcile.graceMs };
  }
}

function everyItem(database: pg.Pool, asked: Omit<WorkQuery, 'limit' | 'after'>) {
  return everyRow<WorkItem>(
    (limit, after) => inSnapshot(database, (client) => readWork(client, { ...asked, limit, after })),
    FILE_PAGE,
  );
}
