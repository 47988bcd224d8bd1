import { Command, Option } from 'commander';
import { everyFailure, everyHold } from '#finance/views/report-files.js';
import {
  failureColumns,
  holdColumns,
  promotionColumns,
  promotionRows,
  promotionView,
  refundDayColumns,
  holdTotals,
  holdShape,
  refundDayShape,
  failureShape,
} from '#finance/views/work-reports.view.js';
import { inSequence, writeCsv } from '#platform/http/csv.js';
import { readHolds, readHoldTotals } from '#finance/reports/holds.js';
import { readPromotion } from '#finance/reports/promotion.js';
import { readFailures, readRefundDays } from '#finance/reports/refunds.js';
import { inSnapshot } from '#finance/snapshot.js';
import { atHorizon } from '#ledger/postings/horizon.js';
import { countArgument, secondsArgument, timeArgument, LIMIT_OPTION, JSON_OPTION } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { facts, printJson, printText, table, right } from '../output.js';
import { shown } from '#platform/http/fields.js';
import { z } from 'zod';

const GRACE_MS = 300_000;
const DAY_MS = 86_400_000;
const DAYS_SHOWN = 31;

/** `finance holds`, `finance refunds` and `finance promotion`. */
export function workCommands(): Command[] {
  return [holdsCommand(), refundsCommand(), promotionCommand()];
}

function csvOption(words: string): Option {
  return new Option('--csv', words).conflicts('json');
}

function holdsCommand(): Command {
  return new Command('holds')
    .description('credits held and for how long, oldest first')
    .option('--overdue', 'only holds past their deadline and grace period')
    .option('--grace <seconds>', 'how young work in flight may be', secondsArgument, GRACE_MS)
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .option(...JSON_OPTION)
    .action(printHolds);
}

function refundsCommand(): Command {
  return new Command('refunds')
    .description('refunds against failures by UTC day, with the time they took')
    .option('--from <time>', 'failed at or after this time; by default 31 days before the end', timeArgument)
    .option('--to <time>', 'failed before this time; now by default', timeArgument)
    .option('--failures', 'list each failure instead of days, newest first')
    .option('--outstanding', 'only failures that were not refunded')
    .option('--limit <count>', 'at most this many failures', countArgument, 100)
    .addOption(csvOption('a CSV file; of failures all of them'))
    .option(...JSON_OPTION)
    .action(printRefunds);
}

function promotionCommand(): Command {
  return new Command('promotion')
    .description('what invites cost; exits 1 if it differs from issued:promo')
    .option('--from <time>', 'recorded at or after this time', timeArgument)
    .option('--to <time>', 'recorded before this time', timeArgument)
    .addOption(csvOption('a CSV file'))
    .option(...JSON_OPTION)
    .action(printPromotion);
}

interface Printed {
  csv?: boolean;
  json?: boolean;
}

async function printHolds(
  options: Printed & { overdue?: boolean; grace: number; limit: number },
): Promise<void> {
  const { overdue: overdueOnly = false, grace: graceMs, limit, csv, json } = options;
  if (csv) {
    return onDatabase(process.env, (pool) =>
      writeCsv(process.stdout, holdColumns, everyHold(pool, { graceMs, overdueOnly })),
    );
  }
  const { found, totals } = await onDatabase(process.env, (pool) =>
    inSnapshot(pool, async (client) => ({
      found: await readHolds(client, { graceMs, overdueOnly, limit: limit + 1, after: null }),
      totals: shown(z.object(holdTotals), await readHoldTotals(client, graceMs)),
    })),
  );
  const items = found.slice(0, limit).map((row) => shown(holdShape, row));
  if (json) return printJson({ ...totals, items, more: found.length > limit });
  const titles = ['Held since', 'Charge', right('Amount'), 'Model', 'Channel', 'Task', 'Overdue'];
  const rows = items.map(({ heldSince, chargeId, amount, model, channel, taskState, isOverdue }) => [
    minute(heldSince),
    chargeId,
    amount,
    model,
    channel ?? '-',
    taskState ?? '-',
    isOverdue ? 'yes' : '',
  ]);
  const sums = facts([
    ['Held', `${totals.total} credits; the balances of accounts have ${totals.balances}`],
    ['Overdue', `${totals.overdue.count}, ${totals.overdue.amount} credits`],
  ]);
  printText(`${sums}\n${rows.length === 0 ? '' : `\n${table(titles, rows)}`}`);
}

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
  const found = await onDatabase(process.env, (pool) =>
    inSnapshot(pool, (client) => readRefundDays(client, range)),
  );
  const days = found.map((day) => shown(refundDayShape, day));
  if (options.csv) return writeCsv(process.stdout, refundDayColumns, inSequence(days));
  if (options.json) return printJson({ from: range.from.toISOString(), to: to.toISOString(), days });
  const titles = [
    'Day',
    ...['Failed', 'Refunded', 'Open', 'Credits', 'Open credits', 'p50 ms', 'p95 ms', 'max ms'].map(right),
  ];
  const rows = days.map(({ day, failures, refunded, outstanding, ...each }) => [
    day,
    failures,
    refunded,
    outstanding,
    each.amount,
    each.outstandingAmount,
    each.p50Ms ?? '-',
    each.p95Ms ?? '-',
    each.maxMs ?? '-',
  ]);
  const cells = rows.map((row) => row.map(String));
  printText(rows.length === 0 ? 'Nothing failed.' : table(titles, cells));
}

async function printFailures(range: { from: Date; to: Date }, options: RefundsOptions): Promise<void> {
  const { outstanding: outstandingOnly = false, limit, csv, json } = options;
  if (csv) {
    return onDatabase(process.env, (pool) =>
      writeCsv(process.stdout, failureColumns, everyFailure(pool, { ...range, outstandingOnly })),
    );
  }
  const found = await onDatabase(process.env, (pool) =>
    inSnapshot(pool, (client) =>
      readFailures(client, { ...range, outstandingOnly, limit: limit + 1, after: null }),
    ),
  );
  const items = found.slice(0, limit).map((row) => shown(failureShape, row));
  if (json) return printJson({ items, more: found.length > limit });
  const titles = ['Failed', 'Charge', right('Amount'), 'Model', right('ms'), 'Reason'];
  const rows = items.map(({ failedAt, chargeId, amount, model, latencyMs, reason }) => [
    minute(failedAt),
    chargeId,
    amount,
    model,
    String(latencyMs ?? 'open'),
    reason ?? '-',
  ]);
  printText(rows.length === 0 ? 'No failures found.' : table(titles, rows));
}

async function printPromotion(options: Printed & { from?: Date; to?: Date }): Promise<void> {
  const { from = null, to = null, csv, json } = options;
  const view = promotionView(
    await onDatabase(process.env, (pool) =>
      atHorizon(pool, (client, horizon) => readPromotion(client, horizon, { from, to })),
    ),
  );
  if (!view.ties) process.exitCode = 1;
  if (csv) return writeCsv(process.stdout, promotionColumns, inSequence(promotionRows(view)));
  if (json) return printJson(view);
  const titles = ['Day', ...['Given', 'Clawed back', 'Moved', 'Used'].map(right)];
  const rows = view.days.map(({ day, given, clawedBack, moved, used }) => [
    day,
    given,
    clawedBack,
    moved,
    used,
  ]);
  const sums = facts([
    ['Invite balances', `${view.opening} before, ${view.closing} after`],
    ['Given', `${view.given}; clawed back ${view.clawedBack}, owed ${view.owed}`],
    ['Moved', `${view.moved}; used ${view.used}`],
    ['issued:promo', `${view.issued}${view.ties ? '' : ', which is not given - clawed back'}`],
  ]);
  printText(`${sums}\n${rows.length === 0 ? '' : `\n${table(titles, rows)}`}`);
}

/** `2026-01-31T10:00:00.5Z` for people. */
function minute(time: string): string {
  return time.replace('T', ' ').slice(0, 16);
}
