import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  ALL_VERSIONS,
  daysOf,
  priceChangeColumns,
  revenueColumns,
  viewRevenue,
  earnedText,
} from '#finance/views/revenue.view.js';
import { writeCsv } from '#platform/http/csv.js';
import {
  type PriceChangeKind,
  priceChangeKinds,
  priceChanges,
  priceChangeView,
} from '#finance/reports/price-changes.js';
import {
  type Days,
  type Earned,
  type RevenueDimension,
  revenueDimensions,
  type RevenueReport,
  marginOf,
  revenueReport,
  revenueRows,
} from '#finance/reports/revenue.js';
import { formatAmount, nanos } from '#money/amount.js';
import { moneyText } from '#money/currency.js';
import { OperatorError } from '#platform/errors.js';
import { command } from '../command.js';
import { dayArgument, countArgument, csvOption, LIMIT_OPTION, paymentCurrency } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { minute, type Printed, printJson, printList, printText, right, table } from '../output.js';
import { shown } from '#platform/http/fields.js';

export function revenueCommands(): Command[] {
  return [revenueCommand(), priceChangesCommand()];
}

function revenueCommand(): Command {
  return command('revenue', 'revenue, cost and margin; exits 1 if they differ from the ledger')
    .option('--from <day>', 'first day, UTC; the first of this month by default', dayArgument)
    .option('--to <day>', 'the day after the last day; tomorrow by default', dayArgument)
    .option('--by <names>', `some of ${revenueDimensions.join(', ')}, with commas`, byArgument, ['model'])
    .option('--limit <count>', 'at most this many rows', countArgument, 100)
    .addOption(csvOption('all rows as CSV'))
    .addHelpText('after', REVENUE_NOTES)
    .action(printRevenue);
}

const REVENUE_NOTES = `
Charges count when they ended, refunds when they were made. Costs are recorded shortly after the requests.

Examples:
  tollgate finance revenue --by model,channel --from 2026-01-01 --to 2026-02-01
  tollgate finance revenue --by day --csv > january.csv`;

function priceChangesCommand(): Command {
  return command(
    'price-changes',
    'versions of prices, multipliers and group rules with what each earned, latest first',
  )
    .option('--from <day>', 'taking effect on this day or later', dayArgument)
    .option('--to <day>', 'taking effect before this day', dayArgument)
    .addOption(new Option('--kind <kind>').choices(priceChangeKinds))
    .option('--subject <name>', 'a model, or a group')
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .action(printPriceChanges);
}

function byArgument(given: string): RevenueDimension[] {
  const names = given.split(',').filter((name) => name !== '');
  const isKnown = (name: string): name is RevenueDimension =>
    (revenueDimensions as readonly string[]).includes(name);
  if (names.every(isKnown) && new Set(names).size === names.length) return names;
  throw new InvalidArgumentError(`Give some of ${revenueDimensions.join(', ')}, with commas, each once.`);
}

interface RevenueOptions extends Printed {
  from?: string;
  to?: string;
  by: RevenueDimension[];
  limit: number;
}

async function printRevenue(options: RevenueOptions): Promise<void> {
  const { by, limit } = options;
  const days = daysOf(options, new Date());
  if (days.from >= days.to) throw new OperatorError('--to must be after --from.');
  if (options.csv) return writeFile(days, by);
  const report = await onDatabase((pool) => revenueReport(pool, { ...days, by, limit }));
  if (!report.agrees) process.exitCode = 1;
  if (options.json) return printJson(viewRevenue(report, by, paymentCurrency()));
  printText(revenueTable(report, by));
  for (const note of notesOf(report)) printText(note);
}

function writeFile(days: Days, by: readonly RevenueDimension[]): Promise<void> {
  return onDatabase((pool) =>
    writeCsv(process.stdout, revenueColumns(by), revenueRows(pool, { ...days, by })),
  );
}

function revenueTable({ from, to, rows, totals }: RevenueReport, by: readonly RevenueDimension[]): string {
  const numbers = ['Charges', 'Units', 'Gross', 'Refunds', 'Cost', 'Failed', 'Cost/credit'];
  const titles = by.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}`);
  const cells = rows.map((row) => [...by.map((name) => row.by[name] ?? '-'), ...numbersOf(row)]);
  const total = by.length === 0 ? [] : [['All', ...by.slice(1).map(() => ''), ...numbersOf(totals)]];
  const columns = [...titles, ...numbers.map(right)];
  return `${from} to ${to}, credits; costs in USD\n\n${table(columns, [...cells, ...total])}`;
}

function numbersOf(earned: Earned): string[] {
  const { charges, units, gross, refunds, cost, failedCost, costPerCredit } = earnedText(earned);
  return [charges, units, gross, refunds, cost, failedCost, costPerCredit ?? '-'];
}

function notesOf(report: RevenueReport): string[] {
  const { truncated, agrees, billDifference, unknownCosts, ledger } = report;
  const currency = paymentCurrency();
  const margin = marginOf(report, currency)?.margin;
  const words = [
    `Recognized revenue: ${moneyText(ledger.recognisedMinor, currency)}.` +
      (margin === undefined ? '' : ` Margin: ${formatAmount(nanos(margin))} ${currency}.`),
    truncated ? 'There are more rows: raise --limit, or take --csv.' : '',
    billDifference === 0n
      ? ''
      : `Upstreams billed ${formatAmount(billDifference)} USD more than the recorded costs; no row includes it.`,
    unknownCosts === 0n
      ? ''
      : `The cost of ${unknownCosts} charges is not known: tollgate finance costs set.`,
    agrees
      ? ''
      : `The ledger says otherwise: gross ${formatAmount(ledger.gross)}, refunds ${formatAmount(ledger.refunds)}, ` +
        `cost ${formatAmount(ledger.cost)}, failed ${formatAmount(ledger.failedCost)}. See tollgate finance check.`,
  ];
  return words.filter((note) => note !== '');
}

interface PriceChangesOptions extends Printed {
  from?: string;
  to?: string;
  kind?: PriceChangeKind;
  subject?: string;
  limit: number;
}

async function printPriceChanges(options: PriceChangesOptions): Promise<void> {
  const { kind = null, subject = null } = options;
  const limit = options.csv ? ALL_VERSIONS : options.limit;
  const [from, to] = [options.from, options.to].map((day) => (day ? new Date(`${day}T00:00:00Z`) : null));
  const asked = { from: from ?? null, to: to ?? null, kind, subject, limit };
  const versions = await onDatabase((pool) => priceChanges(pool, asked));
  const items = versions.map((each) => shown(priceChangeView, each));
  await printList(options, {
    items,
    json: { versions: items },
    csv: priceChangeColumns,
    table: {
      From: ({ effectiveFrom }) => (effectiveFrom ? minute(effectiveFrom) : 'ever'),
      Kind: 'kind',
      'Model or group': 'subject',
      Before: 'before',
      After: 'value',
      By: ({ proposal }) => proposal?.proposedBy,
      Charges: right('charges'),
      'Earned (credits)': right('gross'),
    },
  });
}
