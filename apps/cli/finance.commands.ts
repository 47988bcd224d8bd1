import { type Command, Option } from 'commander';
import { once } from 'node:events';
import type pg from 'pg';
import { trialBalanceColumns, statementView, trialBalanceView } from '#finance/views/ledger.view.js';
import { inSequence, writeCsv } from '#platform/http/csv.js';
import { booksOfPeriod, findPeriod } from '#finance/periods/period.js';
import { exportFormats, type ExportFormatName, exportLedger } from '#ledger/export/export.js';
import {
  type LedgerAccount,
  ledgerAccountStatement,
  listLedgerAccounts,
} from '#ledger/reports/ledger-account-statement.js';
import type { RangeQuery } from '#ledger/export/range.js';
import { type TimeOf, trialBalance } from '#ledger/reports/trial-balance.js';
import { OperatorError } from '#platform/errors.js';
import { command } from './command.js';
import {
  countArgument,
  csvOption,
  exactTimeArgument,
  periodArgument,
  timeArgument,
  paymentCurrency,
} from './arguments.js';
import { onDatabase } from './database.access.js';
import { adjustmentCommands } from './finance/adjustments.commands.js';
import { controlCommands } from './finance/controls.commands.js';
import { costsCommand } from './finance/costs.commands.js';
import { deferredRevenueCommands } from './finance/deferred-revenue.commands.js';
import { periodsCommand } from './finance/periods.commands.js';
import { importCommand } from './finance/import.commands.js';
import { reconcileCommand } from './finance/reconcile.commands.js';
import { revenueCommands } from './finance/revenue.commands.js';
import { workCommands } from './finance/work.commands.js';
import { facts, type Printed, printJson, printText, right, second, table, tableOf } from './output.js';
import { countedOn } from './progress.js';

const NOTES = `
Times are ISO 8601 dates or times, such as 2026-01-31 or 2026-01-31T08:00:00Z. Reports go up to the oldest running
transaction, so that they never change. Positive amounts are credits, negative ones debits; in files for hledger and
beancount it is the other way round.

Times are when postings were recorded or, with --by effective, when things happened. --period uses the books of a closed
period as they were known at its close; they match its trial balance.

PAYMENT_CURRENCY is the currency customers pay in, USD by default.

Examples:
  tollgate finance trial-balance --at 2026-02-01
  tollgate finance statement issued:credit --from 2026-01-01 --to 2026-02-01
  tollgate finance export --format hledger --from 2026-01-01 > january.journal
  tollgate finance export --format hledger --period 3 > closed.journal
  tollgate finance export --format beancount --account customer:01k0...:main
  tollgate finance check --control holds --control charges-tasks`;

export function financeCommand(): Command {
  const finance = command('finance', 'the books').addHelpText('after', NOTES);
  addBooks(finance);
  const commands = [
    ...controlCommands(),
    importCommand(),
    reconcileCommand(),
    ...revenueCommands(),
    costsCommand(),
    ...deferredRevenueCommands(),
    ...workCommands(),
    periodsCommand(),
    ...adjustmentCommands(),
  ];
  for (const command of commands) finance.addCommand(command);
  return finance;
}

function addBooks(finance: Command): void {
  command('trial-balance', 'balances of all ledger accounts; exits 1 if they do not add up to 0', finance)
    .option('--at <time>', 'count postings before this time; now by default', timeArgument)
    .addOption(byOption().default('recorded'))
    .addOption(recordedBeforeOption())
    .addOption(csvOption())
    .action(printTrialBalance);
  withRange(finance.command('statement'))
    .description('the entries of a ledger account, oldest first')
    .argument('<account>', 'code of the ledger account, such as issued:credit')
    .option('--limit <count>', 'at most this many entries', countArgument, 1000)
    .action(printStatement);
  const account = new Option('--account <code>', 'only complete transactions that touch this ledger account');
  withRange(finance.command('export'))
    .description('write the books to standard output, for other programs')
    .addOption(new Option('--format <format>').choices(Object.keys(exportFormats)).makeOptionMandatory())
    .addOption(account.conflicts('summary'))
    .option('--summary', 'one transaction per day, all customers combined')
    .action(writeExport);
}

function byOption(): Option {
  return new Option('--by <time>', 'which time of a posting to use').choices(['recorded', 'effective']);
}

function recordedBeforeOption(): Option {
  const words = 'by effective time: as the books were known before it, to the microsecond';
  return new Option('--recorded-before <time>', words).argParser(exactTimeArgument);
}

function withRange(command: Command): Command {
  const period = new Option('--period <number>', 'a closed period, instead of the times');
  return command
    .addOption(byOption())
    .option('--from <time>', 'at or after this time', timeArgument)
    .option('--to <time>', 'before this time', timeArgument)
    .addOption(recordedBeforeOption())
    .addOption(period.argParser(periodArgument).conflicts(['by', 'from', 'to', 'recordedBefore']));
}

interface Times {
  by?: TimeOf;
  from?: Date;
  to?: Date;
  recordedBefore?: string;
  period?: bigint;
}

async function rangeOf(pool: pg.Pool, options: Times): Promise<RangeQuery> {
  const { by = 'recorded', from = null, to = null, recordedBefore = null, period } = options;
  if (period === undefined) {
    requireEffective(by, recordedBefore);
    return { by, from, to, recordedBefore };
  }
  const found = await findPeriod(pool, period);
  const range = found && booksOfPeriod(found);
  if (range) return range;
  throw new OperatorError(found ? `Period ${period} is not closed.` : `There is no period ${period}.`);
}

function requireEffective(by: TimeOf, recordedBefore: string | null): void {
  if (by === 'effective' || recordedBefore === null) return;
  throw new OperatorError('--recorded-before needs --by effective.');
}

async function printTrialBalance(
  options: Printed & { at?: Date; by: TimeOf; recordedBefore?: string },
): Promise<void> {
  const { at = null, by, recordedBefore = null } = options;
  requireEffective(by, recordedBefore);
  const report = await onDatabase((pool) => trialBalance(pool, { by, at, recordedBefore }));
  const view = trialBalanceView(report, paymentCurrency());
  if (report.totals.some(({ total }) => total !== 0n)) process.exitCode = 1;
  if (options.csv) return writeCsv(process.stdout, trialBalanceColumns, inSequence(view.balances));
  if (options.json) return printJson(view);
  const rows = view.balances
    .filter(({ balance }) => balance !== '0')
    .map(({ code, unit, balance }) =>
      balance.startsWith('-') ? [code, balance.slice(1), '', unit] : [code, '', balance, unit],
    );
  const titles = ['Account', right('Debit'), right('Credit'), 'Unit'];
  printText(`Postings ${by} before ${view.at ?? 'the beginning'}\n\n${table(titles, rows)}`);
}

async function printStatement(
  code: string,
  options: Times & { limit: number; json?: boolean },
): Promise<void> {
  const { limit } = options;
  const statement = await onDatabase(async (pool) => {
    const { id } = await accountOf(pool, code);
    const asked = { ...(await rangeOf(pool, options)), limit, after: null };
    const found = await ledgerAccountStatement(pool, id, asked);
    if (!found) throw noAccount(code);
    return found;
  });
  const view = statementView(statement, paymentCurrency());
  if (options.json) return printJson({ ...view, more: statement.next !== null });
  const { unit } = view.account;
  const heading = facts([
    ['Account', code],
    ['Time', `${view.by}, ${view.from ?? 'the beginning'} to ${view.to ?? 'the beginning'}`],
    ['Opening', `${view.opening} ${unit}`],
    ['Closing', `${view.closing} ${unit}`],
  ]);
  const more = statement.next === null ? '' : `\nThere are more entries: narrow the time, or raise --limit.`;
  printText(`${heading}\n\n${linesOf(view)}${more}`);
}

function linesOf({ by, items }: ReturnType<typeof statementView>): string {
  return tableOf(items, {
    'Time (UTC)': ({ recordedAt, effectiveAt }) => second(by === 'effective' ? effectiveAt : recordedAt),
    What: 'kind',
    Reference: 'reference',
    Amount: right(({ amount }) => (amount.startsWith('-') ? amount : `+${amount}`)),
    After: right('balance'),
  });
}

async function writeExport(
  options: Times & { format: ExportFormatName; account?: string; summary?: boolean },
): Promise<void> {
  const { format, summary = false } = options;
  await onDatabase(async (pool) => {
    const ledgerAccountId =
      options.account === undefined ? null : (await accountOf(pool, options.account)).id;
    const range = await rangeOf(pool, options);
    const asked = { format, ...range, ledgerAccountId, summary, currency: paymentCurrency() };
    const pieces = countedOn(exportLedger(pool, asked), {
      sizeOf: (piece) => piece.length,
      words: (sum) => `${(sum / 1e6).toFixed(1)} MB`,
    });
    for await (const piece of pieces) {
      if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
    }
  });
}

async function accountOf(pool: pg.Pool, code: string): Promise<LedgerAccount> {
  const [first] = await listLedgerAccounts(pool, { limit: 1, after: null, codePrefix: code });
  if (first?.code === code) return first;
  throw noAccount(code);
}

function noAccount(code: string): OperatorError {
  return new OperatorError(`There is no ledger account ${code}.`);
}
