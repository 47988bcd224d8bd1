import { type Command, Option } from 'commander';
import { adjustmentColumns, debtorColumns, writeOffColumns } from '#finance/adjustments/adjustments.view.js';
import { adjustmentListing, debtorListing, writeOffListing } from '#finance/adjustments/correction.lists.js';
import { listedFirst, listedRows } from '#finance/listing.js';
import { readDebtTotals } from '#finance/reports/debts.js';
import { type AdjustmentReason, adjustmentReasons } from '#ledger/postings/adjustment.js';
import { formatAmount, nanos } from '#money/amount.js';
import { writeCsv } from '#platform/http/csv.js';
import { command } from '../command.js';
import { csvOption, timeArgument, LIMIT_OPTION } from '../arguments.js';
import { onDatabase, onSnapshot } from '../database.access.js';
import { printListing } from '../listing.output.js';
import { MORE, type Printed, printJson, printText, right, second, tableOf } from '../output.js';

export function registerCommand(): Command {
  return command('adjustments', 'adjustments, newest first')
    .option('--account <id>', 'only this account')
    .option('--ticket <id>', 'only this ticket')
    .addOption(new Option('--reason <reason>').choices(adjustmentReasons))
    .option('--from <time>', 'recorded at or after this time', timeArgument)
    .option('--to <time>', 'recorded before this time', timeArgument)
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .action(printRegister);
}

export function writeOffsCommand(): Command {
  return command('write-offs', 'write-offs and their reversals, newest first')
    .option('--account <id>', 'only this account')
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .action(printWriteOffs);
}

export function debtsCommand(): Command {
  return command('debts', 'accounts that are in debt or frozen')
    .option(...LIMIT_OPTION)
    .addOption(csvOption('all rows as CSV'))
    .action(printDebts);
}

interface RegisterOptions extends Printed {
  account?: string;
  ticket?: string;
  reason?: AdjustmentReason;
  from?: Date;
  to?: Date;
  limit: number;
}

async function printRegister(options: RegisterOptions): Promise<void> {
  const { account: accountId, ticket: ticketId, reason, from, to, limit } = options;
  await printListing(options, adjustmentListing({ accountId, ticketId, reason, from, to }), {
    limit,
    csv: adjustmentColumns,
    table: {
      'Time (UTC)': ({ recordedAt }) => second(recordedAt),
      Adjustment: 'id',
      Account: 'accountId',
      Reason: 'reason',
      Amount: right('amount'),
      By: 'requestedBy',
    },
    none: 'None found.',
  });
}

async function printWriteOffs(options: Printed & { account?: string; limit: number }): Promise<void> {
  await printListing(options, writeOffListing({ accountId: options.account }), {
    limit: options.limit,
    csv: writeOffColumns,
    table: {
      'Time (UTC)': ({ recordedAt }) => second(recordedAt),
      'Write-off': 'id',
      Account: 'accountId',
      Amount: right('amount'),
      By: 'requestedBy',
    },
    none: 'None found.',
  });
}

async function printDebts({ limit, csv, json }: Printed & { limit: number }): Promise<void> {
  if (csv)
    return onDatabase((pool) => writeCsv(process.stdout, debtorColumns, listedRows(pool, debtorListing)));
  const { items, more, totals } = await onSnapshot(async (client) => ({
    ...(await listedFirst(client, debtorListing, limit)),
    totals: await readDebtTotals(client),
  }));
  const { accounts, frozen } = totals;
  const debt = formatAmount(nanos(totals.debt));
  const owedRewards = formatAmount(nanos(totals.owedRewards));
  if (json) return printJson({ items, more, accounts, frozen, debt, owedRewards });
  if (items.length === 0) return printText('No account is in debt or frozen.');
  const debtors = tableOf(items, {
    Account: 'accountId',
    Main: right('main'),
    Since: ({ since }) => since ?? '',
    Reason: ({ reason }) => reason ?? '',
    Disputes: ({ disputes }) => disputes.map(({ disputeId }) => disputeId).join(' '),
  });
  printText(
    `${debtors}\n\n${accounts} accounts, ${frozen} frozen. Debt: ${debt} credits. Rewards to be reversed: ${owedRewards} credits.`,
  );
  if (more) printText(MORE);
}
