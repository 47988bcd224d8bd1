import { Command, Option } from 'commander';
import {
  adjustmentColumns,
  debtorColumns,
  viewDebtor,
  writeOffColumns,
  adjustmentView,
  writeOffView,
} from '#finance/adjustments/adjustments.view.js';
import { listAdjustments } from '#finance/reports/adjustments.js';
import { readDebtors, readDebtTotals } from '#finance/reports/debts.js';
import { inSnapshot } from '#finance/snapshot.js';
import { type AdjustmentReason, adjustmentReasons } from '#ledger/postings/adjustment.js';
import { listWriteOffs } from '#ledger/postings/write-off.js';
import { formatAmount, nanos } from '#money/amount.js';
import { inSequence, writeCsv } from '#platform/http/csv.js';
import { timeArgument, LIMIT_OPTION, JSON_OPTION } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { printJson, printText, table, right } from '../output.js';
import { shown } from '#platform/http/fields.js';

/** `finance adjustments`. */
export function registerCommand(): Command {
  return new Command('adjustments')
    .description('adjustments, newest first')
    .option('--account <id>', 'only this account')
    .option('--ticket <id>', 'only this ticket')
    .addOption(new Option('--reason <reason>').choices(adjustmentReasons))
    .option('--from <time>', 'recorded at or after this time', timeArgument)
    .option('--to <time>', 'recorded before this time', timeArgument)
    .option(...LIMIT_OPTION)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option(...JSON_OPTION)
    .action(printRegister);
}

/** `finance write-offs`. */
export function writeOffsCommand(): Command {
  return new Command('write-offs')
    .description('write-offs and their reversals, newest first')
    .option('--account <id>', 'only this account')
    .option(...LIMIT_OPTION)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option(...JSON_OPTION)
    .action(printWriteOffs);
}

/** `finance debts`. */
export function debtsCommand(): Command {
  return new Command('debts')
    .description('accounts that are in debt or frozen')
    .option(...LIMIT_OPTION)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option(...JSON_OPTION)
    .action(printDebts);
}

interface RegisterOptions {
  account?: string;
  ticket?: string;
  reason?: AdjustmentReason;
  from?: Date;
  to?: Date;
  limit: number;
  csv?: boolean;
  json?: boolean;
}

async function printRegister(options: RegisterOptions): Promise<void> {
  const { account: accountId, ticket: ticketId, reason, from, to, limit } = options;
  const asked = { limit, beforeId: null, accountId, ticketId, reason, from, to };
  const found = await onDatabase(process.env, (pool) => listAdjustments(pool, asked));
  const items = found.slice(0, limit).map((row) => shown(adjustmentView, row));
  if (options.csv) return writeCsv(process.stdout, adjustmentColumns, inSequence(items));
  if (options.json) return printJson({ items, more: found.length > limit });
  const titles = ['Time (UTC)', 'Adjustment', 'Account', 'Reason', right('Amount'), 'By'];
  const rows = items.map(({ recordedAt, id, accountId: of, reason: why, amount, requestedBy }) => [
    recordedAt.replace('T', ' ').slice(0, 19),
    id,
    of,
    why,
    amount,
    requestedBy,
  ]);
  printText(rows.length === 0 ? 'None found.' : table(titles, rows));
}

async function printWriteOffs(
  options: Pick<RegisterOptions, 'account' | 'limit' | 'csv' | 'json'>,
): Promise<void> {
  const { account: accountId, limit } = options;
  const asked = { limit, beforeId: null, accountId };
  const found = await onDatabase(process.env, (pool) => listWriteOffs(pool, asked));
  const items = found.slice(0, limit).map((row) => shown(writeOffView, row));
  if (options.csv) return writeCsv(process.stdout, writeOffColumns, inSequence(items));
  if (options.json) return printJson({ items, more: found.length > limit });
  const titles = ['Time (UTC)', 'Write-off', 'Account', right('Amount'), 'By'];
  const rows = items.map(({ recordedAt, id, accountId: of, amount, requestedBy }) => [
    recordedAt.replace('T', ' ').slice(0, 19),
    id,
    of,
    amount,
    requestedBy,
  ]);
  printText(rows.length === 0 ? 'None found.' : table(titles, rows));
}

interface DebtOptions {
  limit: number;
  csv?: boolean;
  json?: boolean;
}

async function printDebts({ limit, csv, json }: DebtOptions): Promise<void> {
  const { items, totals } = await onDatabase(process.env, (pool) =>
    inSnapshot(pool, async (client) => ({
      items: (await readDebtors(client, { limit, afterId: null })).map(viewDebtor),
      totals: await readDebtTotals(client),
    })),
  );
  if (csv) return writeCsv(process.stdout, debtorColumns, inSequence(items));
  const { accounts, frozen } = totals;
  const debt = formatAmount(nanos(totals.debt));
  const owedRewards = formatAmount(nanos(totals.owedRewards));
  if (json) return printJson({ items, accounts, frozen, debt, owedRewards });
  const titles = ['Account', right('Main'), 'Since', 'Reason', 'Disputes'];
  const rows = items.map(({ accountId, main, since, reason, disputes }) => [
    accountId,
    main,
    since ?? '',
    reason ?? '',
    disputes.map(({ disputeId }) => disputeId).join(' '),
  ]);
  const sums = `${accounts} accounts, ${frozen} frozen. Debt: ${debt} credits. Rewards to be reversed: ${owedRewards} credits.`;
  printText(rows.length === 0 ? 'No account is in debt or frozen.' : `${table(titles, rows)}\n\n${sums}`);
}
