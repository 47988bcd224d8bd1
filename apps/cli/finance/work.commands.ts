import type { Command } from 'commander';
import { listedFirst, listedRows } from '#finance/listing.js';
import { failureListing, holdListing } from '#finance/views/report-files.js';
import {
  failureColumns,
  holdColumns,
  promotionColumns,
  promotionRows,
  promotionView,
  refundDayColumns,
  type failureShape,
  type holdShape,
  holdTotals,
  refundDayShape,
} from '#finance/views/work-reports.view.js';
import { inSequence, writeCsv } from '#platform/http/csv.js';
import { readHoldTotals } from '#finance/reports/holds.js';
import { readPromotion } from '#finance/reports/promotion.js';
import { readRefundDays } from '#finance/reports/refunds.js';
import { atHorizon } from '#ledger/postings/horizon.js';
import { command } from '../command.js';
import { countArgument, csvOption, secondsArgument, timeArgument, LIMIT_OPTION } from '../arguments.js';
import { onDatabase, onSnapshot } from '../database.access.js';
import { printListing } from '../listing.output.js';
import {
  type Columns,
  facts,
  minute,
  MORE,
  type Printed,
  printJson,
  printList,
  printText,
  right,
  tableOf,
} from '../output.js';
import { shown } from '#platform/http/fields.js';
import { z } from 'zod';

const GRACE_MS = 300_000;
const DAY_MS = 86_400_000;
const DAYS_SHOWN = 31;

export function workCommands(): Command[] {
  return [holdsCommand(), refundsCommand(), promotionCommand()];
}

function holdsCommand(): Command {
  return command('holds', 'credits held and for how long, oldest first')
    .option('--overdue', 'only holds past their deadline and grace period')
    .option('--grace <seconds>', 'how young work in flight may be', secondsArgument, GRACE_MS)
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .action(printHolds);
}

function refundsCommand(): Command {
  return command('refunds', 'refunds against failures by UTC day, with the time they took')
    .option('--from <time>', 'failed at or after this time; by default 31 days before the end', timeArgument)
    .option('--to <time>', 'failed before this time; now by default', timeArgument)
    .option('--failures', 'list each failure instead of days, newest first')
    .option('--outstanding', 'only failures that were not refunded')
    .option('--limit <count>', 'at most this many failures', countArgument, 100)
    .addOption(csvOption('a CSV file; of failures all of them'))
    .action(printRefunds);
}

function promotionCommand(): Command {
  return command('promotion', 'what invites cost; exits 1 if it differs from issued:promo')
    .option('--from <time>', 'recorded at or after this time', timeArgument)
    .option('--to <time>', 'recorded before this time', timeArgument)
    .addOption(csvOption())
    .action(printPromotion);
}

interface HoldsOptions extends Printed {
  overdue?: boolean;
  grace: number;
  limit: number;
}

async function printHolds(options: HoldsOptions): Promise<void> {
  const { overdue: overdueOnly = false, grace: graceMs, limit, csv, json } = options;
  const holds = holdListing({ graceMs, overdueOnly });
  if (csv) return onDatabase((pool) => writeCsv(process.stdout, holdColumns, listedRows(pool, holds)));
  const { items, more, totals } = await onSnapshot(async (client) => ({
    ...(await listedFirst(client, holds, limit)),
    totals: shown(z.object(holdTotals), await readHoldTotals(client, graceMs)),
  }));
  if (json) return printJson({ ...totals, items, more });
  const sums = facts([
    ['Held', `${totals.total} credits; the balances of accounts have ${totals.balances}`],
    ['Overdue', `${totals.overdue.count}, ${totals.overdue.amount} credits`],
  ]);
  printText(`${sums}\n${items.length === 0 ? '' : `\n${tableOf(items, HOLDS)}`}`);
  if (more) printText(MORE);
}

const HOLDS: Columns<z.output<typeof holdShape>> = {
  'Held since': ({ heldSince }) => minute(heldSince),
  Charge: 'chargeId',
  Amount: right('amount'),
  Model: 'model',
  Channel: 'channel',
  Task: 'taskState',
  Overdue: ({ isOverdue }) => (isOverdue ? 'yes' : ''),
};

interface RefundsOptions extends Printed {
  from?: Date;
  to?: Date;
  failures?: boolean;
  outstanding?: boolean;
  limit: number;
}

async function printRefunds(options: RefundsOptions): Promise<void> {
  const to = options.to ?? new Date();
  const range = { from: options.from ?? new Date(to.getTime() - DAYS_SHOWN * DAY_MS), to };
  if (options.failures || options.outstanding) return printFailures(range, options);
  const found = await onSnapshot((client) => readRefundDays(client, range));
  const days = found.map((day) => shown(refundDayShape, day));
  await printList(options, {
    items: days,
    json: { from: range.from.toISOString(), to: to.toISOString(), days },
    csv: refundDayColumns,
    table: REFUND_DAYS,
    none: 'Nothing failed.',
  });
}

const REFUND_DAYS: Columns<z.output<typeof refundDayShape>> = {
  Day: 'day',
  Failed: right('failures'),
  Refunded: right('refunded'),
  Open: right('outstanding'),
  Credits: right('amount'),
  'Open credits': right('outstandingAmount'),
  'p50 ms': right('p50Ms'),
  'p95 ms': right('p95Ms'),
  'max ms': right('maxMs'),
};

async function printFailures(range: { from: Date; to: Date }, options: RefundsOptions): Promise<void> {
  const { outstanding: outstandingOnly = false, limit } = options;
  await printListing(options, failureListing({ ...range, outstandingOnly }), {
    limit,
    csv: failureColumns,
    table: FAILURES,
    none: 'No failures found.',
  });
}

const FAILURES: Columns<z.output<typeof failureShape>> = {
  Failed: ({ failedAt }) => minute(failedAt),
  Charge: 'chargeId',
  Amount: right('amount'),
  Model: 'model',
  ms: right(({ latencyMs }) => latencyMs ?? 'open'),
  Reason: 'reason',
};

async function printPromotion(options: Printed & { from?: Date; to?: Date }): Promise<void> {
  const { from = null, to = null, csv, json } = options;
  const view = promotionView(
    await onDatabase((pool) =>
      atHorizon(pool, (client, horizon) => readPromotion(client, horizon, { from, to })),
    ),
  );
  if (!view.ties) process.exitCode = 1;
  if (csv) return writeCsv(process.stdout, promotionColumns, inSequence(promotionRows(view)));
  if (json) return printJson(view);
  const sums = facts([
    ['Invite balances', `${view.opening} before, ${view.closing} after`],
    ['Given', `${view.given}; clawed back ${view.clawedBack}, owed ${view.owed}`],
    ['Moved', `${view.moved}; used ${view.used}`],
    ['issued:promo', `${view.issued}${view.ties ? '' : ', which is not given - clawed back'}`],
  ]);
  printText(`${sums}\n${view.days.length === 0 ? '' : `\n${tableOf(view.days, PROMOTION)}`}`);
}

const PROMOTION: Columns<ReturnType<typeof promotionView>['days'][number]> = {
  Day: 'day',
  Given: right('given'),
  'Clawed back': right('clawedBack'),
  Moved: right('moved'),
  Used: right('used'),
};
