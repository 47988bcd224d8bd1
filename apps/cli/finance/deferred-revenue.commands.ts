import type { Command } from 'commander';
import {
  deferredColumns,
  deferredFileRows,
  lotColumns,
  viewDeferredRevenue,
  viewLot,
} from '#finance/views/deferred-revenue.view.js';
import { everyLot } from '#finance/views/report-files.js';
import { daysOf } from '#finance/views/revenue.view.js';
import { inSequence, writeCsv } from '#platform/http/csv.js';
import { deferredLots } from '#finance/reports/deferred-lots.js';
import { deferredRevenueReport } from '#finance/reports/deferred-revenue.js';
import { OperatorError } from '#platform/errors.js';
import { command } from '../command.js';
import { dayArgument, csvOption, LIMIT_OPTION, paymentCurrency } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { type Columns, facts, type Printed, printJson, printText, right, table, tableOf } from '../output.js';

const NOTES = `
Used credits become revenue within about a minute. Payments in other currencies are in suspense.

Examples:
  tollgate finance deferred-revenue --from 2026-01-01 --to 2026-02-01
  tollgate finance lots --left --csv > lots.csv
  tollgate finance statement deferred-revenue --from 2026-01-01 --to 2026-02-01`;

export function deferredRevenueCommands(): Command[] {
  return [deferredRevenueCommand(), lotsCommand()];
}

function lotsCommand(): Command {
  return command('lots', 'the credit lots behind deferred revenue, oldest first')
    .option('--to <day>', 'at the end of the day before; tomorrow by default', dayArgument)
    .option('--account <id>', 'only this account')
    .option('--left', 'only lots with unused or deferred credits')
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .action(printLots);
}

function deferredRevenueCommand(): Command {
  return command(
    'deferred-revenue',
    'deferred revenue from opening to closing balance; exits 1 if the lots disagree',
  )
    .option('--from <day>', 'first day, UTC; the first of this month by default', dayArgument)
    .option('--to <day>', 'the day after the last day; tomorrow by default', dayArgument)
    .addOption(csvOption())
    .addHelpText('after', NOTES)
    .action(printDeferredRevenue);
}

const WORDS: Record<string, string> = {
  topups: 'Top-ups',
  suspense_credited: 'Credited from suspense',
  recognised: 'Recognised',
  chargeback_loss: 'Covered debts of chargebacks',
  refunded: 'Refunded',
  charged_back: 'Charged back',
  chargebacks_won: 'Chargebacks that were won',
  other: 'Other',
};

async function printDeferredRevenue(options: Printed & { from?: string; to?: string }): Promise<void> {
  const days = daysOf(options, new Date());
  if (days.from >= days.to) throw new OperatorError('--to must be after --from.');
  const report = await onDatabase((pool) => deferredRevenueReport(pool, days));
  const view = viewDeferredRevenue(report, paymentCurrency());
  if (!view.agrees) process.exitCode = 1;
  if (options.csv) return writeCsv(process.stdout, deferredColumns, inSequence(deferredFileRows(view)));
  if (options.json) return printJson(view);
  printText(deferredText(view));
  if (!view.agrees) printText('\nThey do not agree: see tollgate finance check.');
}

function deferredText(view: ReturnType<typeof viewDeferredRevenue>): string {
  const rows = [
    ['Opening', view.opening],
    ...view.lines.map(({ move, family, amount }) => [
      `${WORDS[move] ?? move}${family === null ? '' : `: ${family}`}`,
      amount,
    ]),
    ['Closing', view.closing],
  ];
  const { lots } = view;
  const sums = facts([
    ['Lots', `${lots.paid} paid - ${lots.recognised} recognised + ${lots.pendingRefunds} in pending refunds`],
    ['Left', `${lots.deferred} ${view.currency} for ${lots.unusedCredits} CRD`],
    ['Recognized to', view.recognisedTo ?? 'the beginning'],
  ]);
  return `${view.from} to ${view.to}, ${view.currency}\n\n${table(['What', right('Amount')], rows)}\n\n${sums}`;
}

interface LotsOptions extends Printed {
  to?: string;
  account?: string;
  left?: boolean;
  limit: number;
}

async function printLots(options: LotsOptions): Promise<void> {
  const { account: accountId = null, left: leftOnly = false, limit } = options;
  const asked = { to: daysOf(options, new Date()).to, accountId, leftOnly };
  if (options.csv) {
    return onDatabase((pool) =>
      writeCsv(process.stdout, lotColumns, everyLot(pool, asked, paymentCurrency())),
    );
  }
  const found = await onDatabase((pool) => deferredLots(pool, { ...asked, limit: limit + 1, after: null }));
  const items = found.slice(0, limit).map((lot) => viewLot(lot, paymentCurrency()));
  if (options.json) return printJson({ currency: paymentCurrency(), items, more: found.length > limit });
  const more = found.length > limit ? '\nThere are more: raise --limit, or take --csv.' : '';
  printText(items.length === 0 ? 'No lots found.' : `${tableOf(items, LOTS)}${more}`);
}

const LOTS: Columns<ReturnType<typeof viewLot>> = {
  Lot: right('lotId'),
  Account: 'accountId',
  Bought: right('bought'),
  Paid: right('paid'),
  Used: right('consumed'),
  Left: right('left'),
  Deferred: right('deferred'),
};
