import { type Command, Option } from 'commander';
import { adjustmentColumns, debtorColumns, writeOffColumns } from '#finance/adjustments/adjustments.view.js';
import { adjustmentListing, debtorListing, writeOffListing } from '#finance/adjustments/correction.lists.js';
import { listedFirst } from '#finance/listing.js';
import { readDebtTotals } from '#finance/reports/debts.js';
import { type AdjustmentReason, adjustmentReasons } from '#ledger/postings/adjustment.js';
import { formatAmount, nanos } from '#money/amount.js';
import { inSequence, writeCsv } from '#platform/http/csv.js';
import { command } from '../command.js';
import { csvOption, timeArgument, LIMIT_OPTION } from '../arguments.js';
import { firstOf, onSnapshot } from '../database.access.js';
import { type Printed, printJson, printList, printText, right, second, tableOf } from '../output.js';

/** `finance adjustments`. */
export function registerCommand(): Command {
  return command('adjustments', 'adjustments, newest first')
    .option('--account <id>', 'only this account')
    .option('--ticket <id>', 'only this ticket')
    .addOption(new Option('--reason <reason>').choices(adjustmentReasons))
    .option('--from <time>', 'recorded at or after this time', timeArgument)
    .option('--to <time>', 'recorded before this time', timeArgument)
    .option(...LIMIT_OPTION)
    .addOption(csvOption())
    .action(printRegister);
}

/** `finance write-offs`. */
export function writeOffsCommand(): Command {
  return command('write-offs', 'write-offs and their reversals, newest first')
    .option('--account <id>', 'only this account')
    .option(...LIMIT_OPTION)
    .addOption(csvOption())
    .action(printWriteOffs);
}

/** `finance debts`. */
export function debtsCommand(): Command {
  return command('debts', 'accounts that are in debt or frozen')
    .option(...LIMIT_OPTION)
    .addOption(csvOption())
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
  const found = await firstOf(adjustmentListing({ accountId, ticketId, reason, from, to }), limit);
  await printList(options, {
    items: found.items,
    json: found,
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
  const found = await firstOf(writeOffListing({ accountId: options.account }), options.limit);
  await printList(options, {
    items: found.items,
    json: found,
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
  const { items, totals } = await onSnapshot(async (client) => ({
    items: (await listedFirst(client, debtorListing, limit)).items,
    totals: await readDebtTotals(client),
  }));
  if (csv) return writeCsv(process.stdout, debtorColumns, inSequence(items));
  const { accounts, frozen } = totals;
  const debt = formatAmount(nanos(totals.debt));
  const owedRewards = formatAmount(nanos(totals.owedRewards));
  if (json) return printJson({ items, accounts, frozen, debt, owedRewards });
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
}
