import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { findAccount } from '#identity/account.store.js';
import { ApiError } from '#platform/errors.js';
import { isDay } from '#platform/times.js';
import { sendCsv, shaped } from '#platform/http/csv.js';
import { foreignCursor, pageFrom, readCursor, readCursorId, sliceOf } from '#platform/http/page.js';
import { listStatement, statementEntry, type StatementFilter } from '#usage/statement.store.js';
import { spanOf, spanOfDays } from '#usage/chart-span.js';
import { findRequests } from '#usage/request-finder.js';
import { readUsageChart } from '#usage/usage-chart.js';
import { type DailySubject, readDailyUsage, readUsage, type UsageFilter } from '#usage/usage.store.js';
import { dailyView, everyItem, statementColumns, usageColumns, usageView } from '#usage/usage.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';
import { checkedTimes } from '../http/report-range.js';
import { type CallOf, Serves } from '../http/route.js';
import { usageRoutes as routes } from './usage.routes.js';

const DAY_MS = 24 * 3_600_000;
const DAYS_SHOWN = 31;
/** Rows of a file that are read at once. */
const FILE_PAGE = 1_000;

interface Page {
  limit: number;
  cursor?: string | undefined;
}

/** Usage and transactions of one's own account, and of any account for staff. */
@Controller()
export class UsageController extends Using({ pool: POOL, clock: CONTROL_PLANE_CLOCK }) {
  @Serves(routes.usage)
  async usage({ actor, query }: CallOf<typeof routes.usage>) {
    return this.usagePage(actor.accountId, query, false);
  }

  @Serves(routes.accountUsage)
  async accountUsage({ params, query }: CallOf<typeof routes.accountUsage>) {
    return this.usagePage(await this.known(params.accountId), query, true);
  }

  @Serves(routes.usage.csv)
  usageCsv(call: CallOf<typeof routes.usage.csv>): Readable {
    return usageFile(call, { accountId: call.actor.accountId, filter: call.query, forStaff: false });
  }

  @Serves(routes.accountUsage.csv)
  async accountUsageCsv(call: CallOf<typeof routes.accountUsage.csv>): Promise<Readable> {
    const accountId = await this.known(call.params.accountId);
    return usageFile(call, { accountId, filter: call.query, forStaff: true });
  }

  @Serves(routes.daily)
  async daily({ actor, query, database }: CallOf<typeof routes.daily>) {
    return this.dailyPage(database, actor.accountId, query);
  }

  @Serves(routes.accountDaily)
  async accountDaily({ params, query, database }: CallOf<typeof routes.accountDaily>) {
    return this.dailyPage(database, await this.known(params.accountId), query);
  }

  @Serves(routes.chart)
  async chart({ actor, query, database }: CallOf<typeof routes.chart>) {
    const { range, from, to, by, ...filter } = query;
    const nowMs = this.clock.nowMs();
    const span = from === undefined ? spanOf(range, nowMs) : spanOfDays({ from, to: to ?? from }, nowMs);
    const chart = await readUsageChart(database, { accountId: actor.accountId, span, by, filter });
    return { from: span.from, to: span.to, stepSeconds: span.stepMs / 1_000, ...chart };
  }

  @Serves(routes.find)
  async find({ actor, query }: CallOf<typeof routes.find>) {
    return this.found(query.id, actor.accountId);
  }

  @Serves(routes.findAny)
  async findAny({ query }: CallOf<typeof routes.findAny>) {
    return this.found(query.id, null);
  }

  @Serves(routes.statement)
  async statement({ actor, query }: CallOf<typeof routes.statement>) {
    return this.statementPage(actor.accountId, query);
  }

  @Serves(routes.accountStatement)
  async accountStatement({ params, query }: CallOf<typeof routes.accountStatement>) {
    return this.statementPage(await this.known(params.accountId), query);
  }

  @Serves(routes.statement.csv)
  statementCsv(call: CallOf<typeof routes.statement.csv>): Readable {
    return statementFile(call, call.actor.accountId, call.query);
  }

  @Serves(routes.accountStatement.csv)
  async accountStatementCsv(call: CallOf<typeof routes.accountStatement.csv>): Promise<Readable> {
    return statementFile(call, await this.known(call.params.accountId), call.query);
  }

  private async found(id: string, accountId: string | null) {
    const items = await findRequests(this.pool, id, accountId);
    const isForStaff = accountId === null;
    return { items: items.map((each) => ({ ...usageView(each, isForStaff), accountId: each.accountId })) };
  }

  private async known(accountId: string): Promise<string> {
    if (await findAccount(this.pool, accountId)) return accountId;
    throw new ApiError('not_found', 'There is no such account.');
  }

  private async usagePage(
    accountId: string,
    { limit, cursor, ...filter }: UsageFilter & Page,
    forStaff: boolean,
  ) {
    const after = readCursorId(cursor);
    const slice = await readUsage(this.pool, { accountId, filter }, { limit, after });
    return sliceOf(slice, (entry) => usageView(entry, forStaff));
  }

  private async statementPage(accountId: string, { limit, cursor, ...filter }: StatementFilter & Page) {
    const after = readCursorId(cursor, /^\d{1,18} \d{1,5}$/);
    const slice = await listStatement(this.pool, { accountId, filter }, { limit, after });
    return sliceOf(slice, (entry) => entry);
  }

  private async dailyPage(
    database: pg.Pool,
    accountId: string,
    query: UsageFilter & Page & { by?: DailySubject | undefined },
  ) {
    const { limit, cursor, by = null, ...filter } = query;
    const to = filter.to ?? new Date(this.clock.nowMs() + DAY_MS);
    const from = filter.from ?? new Date(to.getTime() - (DAYS_SHOWN + 1) * DAY_MS);
    const rows = await readDailyUsage(database, accountId, {
      filter: { ...filter, ...checkedTimes({ from, to }, this.clock.nowMs()) },
      by,
      limit: limit + 1,
      after: dailyCursor(cursor),
    });
    const page = pageFrom(rows, limit, ({ day, subject }) => [day, subject]);
    return { ...page, items: page.items.map((total) => dailyView(total, by)) };
  }
}

/** What a file of rows is sent with, and read from. */
type FileCall = Pick<CallOf<typeof routes.usage.csv>, 'reply' | 'database'>;

function usageFile(
  { reply, database }: FileCall,
  { accountId, filter, forStaff }: { accountId: string; filter: UsageFilter; forStaff: boolean },
): Readable {
  const rows = everyItem(async (after) => {
    const { items, next } = await readUsage(database, { accountId, filter }, { limit: FILE_PAGE, after });
    return { items: items.map((entry) => usageView(entry, forStaff)), next };
  });
  return sendCsv(reply, usageColumns(forStaff), rows);
}

function statementFile({ reply, database }: FileCall, accountId: string, filter: StatementFilter): Readable {
  const rows = everyItem((after) =>
    listStatement(database, { accountId, filter }, { limit: FILE_PAGE, after }),
  );
  return sendCsv(reply, statementColumns, shaped(statementEntry, rows));
}

/** A day, and the model or key within it. */
function dailyCursor(cursor: string | undefined): string[] | null {
  const key = readCursor(cursor, 2);
  if (key && !isDay(key[0]!)) throw foreignCursor();
  return key;
}
