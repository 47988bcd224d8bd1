import { Command } from 'commander';
import { viewDeferredRevenue } from '#apps/billing/finance/deferred-revenue.view.js';
import { daysOf } from '#apps/billing/finance/revenue.view.js';
import { deferredRevenueReport } from '#finance/reports/deferred-revenue.js';
import { OperatorError } from '#platform/errors.js';
import { withDatabase } from '../database.access.js';
import { facts, printJson, printText, table } from '../output.js';
import { dayArgument } from './days.js';

const NOTES = `
Used credit becomes revenue behind the requests, within a minute or so. Payments in other currencies stand in suspense.

Examples:
  tollgate finance deferred-revenue --from 2026-01-01 --to 2026-02-01
  tollgate finance statement deferred-revenue --from 2026-01-01 --to 2026-02-01`;

/** `finance deferred-revenue`. */
export function deferredRevenueCommand(): Command {
  return new Command('deferred-revenue')
    .description(
      'deferred revenue from its opening to its closing balance; exits 1 when the lots say otherwise',
    )
    .option('--from <day>', 'the first day of UTC; the first of this month by default', dayArgument)
    .option('--to <day>', 'the day after the last; tomorrow by default', dayArgument)
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

async function printDeferredRevenue(options: { from?: string; to?: string; json?: boolean }): Promise<void> {
  const days = daysOf(options, new Date());
  if (days.from >= days.to) throw new OperatorError('--to must be after --from.');
  const report = await withDatabase(process.env, (pool) => deferredRevenueReport(pool, days));
  const view = viewDeferredRevenue(report, process.env['PAYMENT_CURRENCY'] ?? 'USD');
  if (!view.agrees) process.exitCode = 1;
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
  printText(table([{ title: 'What' }, { title: 'Amount', align: 'right' }], rows));
  const { lots } = view;
  const told = facts([
    ['Lots', `${lots.paid} paid - ${lots.recognised} recognised + ${lots.pendingRefunds} in pending refunds`],
    ['Left', `${lots.deferred} ${view.currency} for ${lots.unusedCredits} CRD`],
    ['Recognised to', view.recognisedTo ?? 'the beginning'],
  ]);
  printText(`\n${told}`);
  if (!view.agrees) printText('\nThey do not agree: see tollgate finance check.');
}
