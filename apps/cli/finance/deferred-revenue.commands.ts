import { Command, Option } from 'commander';
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
import { paymentCurrency, LIMIT_OPTION } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { facts, printJson, printText, table, right } from '../output.js';
import { dayArgument } from './days.js';

const NOTES = `
Used credits become revenue within about a minute. Payments in other currencies are in suspense.

Examples:
  tollgate finance deferred-revenue --from 2026-01-01 --to 2026-02-01
  tollgate finance lots --left --csv > lots.csv
  tollgate finance statement deferred-revenue --from 2026-01-01 --to 2026-02-01`;

/** `finance deferred-revenue` and `finance lots`. */
export function deferredRevenueCommands(): Command[] {
  return [deferredRevenueCommand(), lotsCommand()];
}

function lotsCommand(): Command {
  return new Command('lots')
    .description('the credit lots behind deferred revenue, oldest first')
    .option('--to <day>', 'at the end of the day before; tomorrow by default', dayArgument)
    .option('--account <id>', 'only this account')
    .option('--left', 'only lots with unused or deferred credits')
    .option(...LIMIT_OPTION)
    .addOption(new Option('--csv', 'all rows as CSV').conflicts('json'))
    .option('--json', 'print one JSON document')
    .action(printLots);
}

function deferredRevenueCommand(): Command {
  return new Command('deferred-revenue')
    .description('deferred revenue from opening to closing balance; exits 1 if the lots disagree')
    .option('--from <day>', 'first day, UTC; the first of this month by default', dayArgument)
    .option('--to <day>', 'the day after the last day; tomorrow by default', dayArgument)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option('--json', 'print one JSON document')
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

async function printDeferredRevenue(options: {
  from?: string;
  to?: string;
  csv?: boolean;
  json?: boolean;
}): Promise<void> {
  const days = daysOf(options, new Date());
  if (days.from >= days.to) throw new OperatorError('--to must be after --from.');
  const report = await onDatabase(process.env, (pool) => deferredRevenueReport(pool, days));
  const view = viewDeferredRevenue(report, paymentCurrency());
  if (!view.agrees) process.exitCode = 1;
  if (options.csv) return writeCsv(process.stdout, deferredColumns, inSequence(deferredFileRows(view)));
  if (options.json) return printJson(view);
  const rows = [
    ['Opening', view.opening],
    ...view.lines.map(({ move, family, amount }) => [
      `${WORDS[move] ?? move}${family === null ? '' : `: ${family}`}`,
      amount,
    ]),
    ['Closing', view.closing],
  ];
  printText(`${view.from} to ${view.to}, ${view.currency}\n`);
  printText(table(['What', right('Amount')], rows));
  const { lots } = view;
  const sums = facts([
    ['Lots', `${lots.paid} paid - ${lots.recognised} recognised + ${lots.pendingRefunds} in pending refunds`],
    ['Left', `${lots.deferred} ${view.currency} for ${lots.unusedCredits} CRD`],
    ['Recognized to', view.recognisedTo ?? 'the beginning'],
  ]);
  printText(`\n${sums}`);
  if (!view.agrees) printText('\nThey do not agree: see tollgate finance check.');
}

interface LotsOptions {
  to?: string;
  account?: string;
  left?: boolean;
  limit: number;
  csv?: boolean;
  json?: boolean;
}

async function printLots(options: LotsOptions): Promise<void> {
  const { account: accountId = null, left: leftOnly = false, limit } = options;
  const asked = { to: daysOf(options, new Date()).to, accountId, leftOnly };
  if (options.csv) {
    return onDatabase(process.env, (pool) =>
      writeCsv(process.stdout, lotColumns, everyLot(pool, asked, paymentCurrency())),
    );
  }
  const found = await onDatabase(process.env, (pool) =>
    deferredLots(pool, { ...asked, limit: limit + 1, after: null }),
  );
  const items = found.slice(0, limit).map((lot) => viewLot(lot, paymentCurrency()));
  if (options.json) return printJson({ currency: paymentCurrency(), items, more: found.length > limit });
  const titles = [
    right('Lot'),
    'Account',
    right('Bought'),
    ...['Paid', 'Used', 'Left', 'Deferred'].map(right),
  ];
  const rows = items.map(({ lotId, accountId: of, bought, paid, consumed, left, deferred }) => [
    lotId,
    of,
    bought,
    paid,
    consumed,
    left,
    deferred,
  ]);
  const more = found.length > limit ? '\nThere are more: raise --limit, or take --csv.' : '';
  printText(rows.length === 0 ? 'No lots found.' : `${table(titles, rows)}${more}`);
}
