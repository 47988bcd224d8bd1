import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { FAULTY_WORK, readWorkDays, type WorkRange } from '#finance/reports/charges-tasks.js';
import { listedPage, listedRows } from '#finance/listing.js';
import { inSnapshot } from '#finance/snapshot.js';
import { invalidField } from '#platform/errors.js';
import { sendCsv } from '#platform/http/csv.js';
import { faultsOf, workColumns } from '#finance/views/charges-tasks.view.js';
import { workListing } from '#finance/views/report-files.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { checkedTimes } from '../http/report-range.js';
import { chargesTasksRoutes as routes } from './charges-tasks.routes.js';

type Filter = CallOf<typeof routes.items.csv>['query'];

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
  items({ query, database }: CallOf<typeof routes.items>) {
    const items = this.listing(query);
    return inSnapshot(database, (client) => listedPage(client, items, query));
  }

  @Serves(routes.items.csv)
  itemsCsv({ query, database, reply }: CallOf<typeof routes.items.csv>): Readable {
    return sendCsv(
      reply,
      { fileName: 'charges-tasks.csv', columns: workColumns },
      listedRows(database, this.listing(query)),
    );
  }

  /** @throws ApiError if both a state and faults are requested */
  private listing(query: Filter) {
    const { state, faults } = query;
    if (state !== undefined && faults) throw invalidField('faults', 'give either a state or this.');
    const states = faults ? FAULTY_WORK : state === undefined ? null : [state];
    return workListing({ ...this.rangeOf(query), states });
  }

  private rangeOf(query: Pick<Filter, 'from' | 'to'>): WorkRange {
    return { ...checkedTimes(query, this.clock.nowMs()), graceMs: this.config.reconcile.graceMs };
  }
}
