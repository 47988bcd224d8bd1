import { Command, Option } from 'commander';
import type { AdjustmentService, Answer, Asking } from '#finance/adjustments/adjustment.service.js';
import {
  adjustmentColumns,
  debtorColumns,
  viewAdjustment,
  viewDebtor,
  viewWriteOff,
  writeOffColumns,
} from '#finance/adjustments/adjustments.view.js';
import { inTurn, writeCsv } from '#platform/http/csv.js';
import { listAdjustments } from '#finance/reports/adjustments.js';
import { readDebtors, readDebtTotals } from '#finance/reports/debts.js';
import { inSnapshot } from '#finance/snapshot.js';
import { type Adjustment, type AdjustmentReason, adjustmentReasons } from '#ledger/postings/adjustment.js';
import { listWriteOffs, type WriteOff } from '#ledger/postings/write-off.js';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { AS_OPTION, type Acting, actingPerson } from '../acting.js';
import { countArgument, creditsArgument, timeArgument } from '../arguments.js';
import { withDatabase } from '../database.access.js';
import { waitingFor, withServices } from '../services.js';
import { operatorName } from '../operator-name.js';
import { facts, printJson, printText, table } from '../output.js';

const JSON_OPTION = ['--json', 'print one JSON document'] as const;
const REQUEST_OPTION = ['--request-id <id>', 'the same again changes nothing'] as const;

const NOTES = `
What one person may do alone in a day is what billing was started with as ADJUSTMENT_LIMIT (20 USD): it is stored in the
database, and no variable of this command changes it. More waits for another person: see \`tollgate approvals\`. An adjustment
is never edited: reverse it and adjust again.

Examples:
  tollgate finance adjust 01k0... --as ada@example.com --give 2.50 --reason goodwill --ticket 01k1... --note "slow for a day"
  tollgate finance reverse-adjustment 01k2... --note "it was another account"
  tollgate finance write-off 01k0... --ticket 01k1... --note "nobody answers"
  tollgate finance reverse-write-off 01k3... --note "they answered"`;

/** `finance adjust`, `reverse-adjustment`, `adjustments`, `write-off`, `reverse-write-off`, `write-offs` and `debts`. */
export function adjustmentCommands(): Command[] {
  return [
    adjustCommand(),
    reverseCommand(),
    registerCommand(),
    writeOffCommand(),
    reverseWriteOffCommand(),
    writeOffsCommand(),
    debtsCommand(),
  ];
}

function adjustCommand(): Command {
  return new Command('adjust')
    .description('give an account credit, or take some, because of a ticket')
    .argument('<account>', 'account id')
    .option('--give <usd>', 'credit for the customer', creditsArgument)
    .addOption(new Option('--take <usd>', 'credit to take').argParser(creditsArgument).conflicts('give'))
    .addOption(new Option('--reason <reason>').choices(adjustmentReasons).makeOptionMandatory())
    .requiredOption('--ticket <id>', 'the ticket that it is because of')
    .requiredOption('--note <text>', 'what happened')
    .option(...AS_OPTION)
    .option(...REQUEST_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', NOTES)
    .action(adjust);
}

function reverseCommand(): Command {
  return new Command('reverse-adjustment')
    .description('reverse an adjustment whole, once, by its opposite')
    .argument('<adjustment>', 'its id')
    .requiredOption('--note <text>', 'why')
    .option(...AS_OPTION)
    .option(...REQUEST_OPTION)
    .option(...JSON_OPTION)
    .action(reverse);
}

function registerCommand(): Command {
  return new Command('adjustments')
    .description('the register of adjustments, newest first')
    .option('--account <id>', 'only of this account')
    .option('--ticket <id>', 'only because of this ticket')
    .addOption(new Option('--reason <reason>').choices(adjustmentReasons))
    .option('--from <time>', 'recorded not before this time', timeArgument)
    .option('--to <time>', 'recorded before this time', timeArgument)
    .option('--limit <count>', 'at most so many', countArgument, 100)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option(...JSON_OPTION)
    .action(printRegister);
}

function writeOffCommand(): Command {
  return new Command('write-off')
    .description('give up the debt of an account, or a part of it; once a month')
    .argument('<account>', 'account id')
    .option('--amount <usd>', 'a part of the debt; all of it by default', creditsArgument)
    .requiredOption('--ticket <id>', 'the ticket that it is because of')
    .requiredOption('--note <text>', 'why')
    .option(...AS_OPTION)
    .option(...REQUEST_OPTION)
    .option(...JSON_OPTION)
    .action(writeOff);
}

function reverseWriteOffCommand(): Command {
  return new Command('reverse-write-off')
    .description('reverse a write-off whole, once, by its opposite: the debt comes back')
    .argument('<write-off>', 'its id')
    .requiredOption('--note <text>', 'why')
    .option(...AS_OPTION)
    .option(...REQUEST_OPTION)
    .option(...JSON_OPTION)
    .action(reverseGivenUp);
}

function writeOffsCommand(): Command {
  return new Command('write-offs')
    .description('debts that were given up, and reversals of that, newest first')
    .option('--account <id>', 'only of this account')
    .option('--limit <count>', 'at most so many', countArgument, 100)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option(...JSON_OPTION)
    .action(printWriteOffs);
}

function debtsCommand(): Command {
  return new Command('debts')
    .description('accounts that owe or are frozen')
    .option('--limit <count>', 'at most so many', countArgument, 100)
    .addOption(new Option('--csv', 'a CSV file').conflicts('json'))
    .option(...JSON_OPTION)
    .action(printDebts);
}

interface Made extends Acting {
  note: string;
  requestId?: string;
  json?: boolean;
}

async function adjust(
  accountId: string,
  options: Made & { give?: Nanos; take?: Nanos; reason: AdjustmentReason; ticket: string },
  command: Command,
): Promise<void> {
  const { give = 0n, take = 0n, reason, ticket: ticketId, note } = options;
  const amount = give - take;
  if (amount === 0n) command.error('error: give --give or --take, above 0', { exitCode: 2 });
  const wanted = { accountId, ticketId, amount, reason, note };
  const answer = await asked(options, (service, asking) => service.adjust(wanted, asking));
  printMade('Adjustment', viewDone(answer, viewAdjustment), options);
}

async function reverse(adjustmentId: string, options: Made): Promise<void> {
  const answer = await asked(options, (service, asking) =>
    service.reverse(adjustmentId, options.note, asking),
  );
  printMade('Reversal', viewDone(answer, viewAdjustment), options);
}

async function writeOff(
  accountId: string,
  options: Made & { amount?: Nanos; ticket: string },
  command: Command,
): Promise<void> {
  const { amount = null, ticket: ticketId, note } = options;
  if (amount === 0n) command.error('error: --amount is above 0', { exitCode: 2 });
  const wanted = { accountId, ticketId, amount, note };
  const answer = await asked(options, (service, asking) => service.writeOff(wanted, asking));
  printMade('Write-off', viewDone(answer, viewWriteOff), options);
}

async function reverseGivenUp(writeOffId: string, options: Made): Promise<void> {
  const { note } = options;
  const answer = await asked(options, (service, asking) => service.reverseWriteOff(writeOffId, note, asking));
  printMade('Reversal', viewDone(answer, viewWriteOff), options);
}

function asked<T>(
  options: Made,
  work: (service: AdjustmentService, asking: Asking) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const { requestId = newId() } = options;
  return withServices(process.env, async ({ pool, adjustments }) => {
    const actor = await actingPerson(pool, options, ['finance']);
    return work(adjustments, { actor, requestId, auditId: operatorName() });
  });
}

type Shown = ReturnType<typeof viewAdjustment> | ReturnType<typeof viewWriteOff>;

function viewDone<T extends Adjustment | WriteOff>(
  { state, done, approvalId }: Answer<T>,
  view: (made: T) => Shown,
): { state: string; made: Shown | null; approvalId: string | null } {
  return { state, made: done && view(done), approvalId };
}

function printMade(
  title: string,
  { state, made, approvalId }: ReturnType<typeof viewDone>,
  { json }: Made,
): void {
  if (made === null) {
    if (json) return printJson({ state, approvalId });
    return printText(state === 'rejected' ? 'Another person has refused it.' : waitingFor(approvalId ?? ''));
  }
  if (json) return printJson(made);
  printText(
    facts([
      [title, made.id],
      ['Account', made.accountId],
      ['Amount', `${made.amount} USD`],
      ['Transaction', made.transactionId],
    ]),
  );
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
  const found = await withDatabase(process.env, (pool) => listAdjustments(pool, asked));
  const items = found.slice(0, limit).map(viewAdjustment);
  if (options.csv) return writeCsv(process.stdout, adjustmentColumns, inTurn(items));
  if (options.json) return printJson({ items, more: found.length > limit });
  const titles = [
    { title: 'Time (UTC)' },
    { title: 'Adjustment' },
    { title: 'Account' },
    { title: 'Reason' },
    { title: 'Amount', align: 'right' as const },
    { title: 'By' },
  ];
  const rows = items.map(({ recordedAt, id, accountId: of, reason: why, amount, requestedBy }) => [
    recordedAt.replace('T', ' ').slice(0, 19),
    id,
    of,
    why,
    amount,
    requestedBy,
  ]);
  printText(rows.length === 0 ? 'There are none.' : table(titles, rows));
}

async function printWriteOffs(
  options: Pick<RegisterOptions, 'account' | 'limit' | 'csv' | 'json'>,
): Promise<void> {
  const { account: accountId, limit } = options;
  const asked = { limit, beforeId: null, accountId };
  const found = await withDatabase(process.env, (pool) => listWriteOffs(pool, asked));
  const items = found.slice(0, limit).map(viewWriteOff);
  if (options.csv) return writeCsv(process.stdout, writeOffColumns, inTurn(items));
  if (options.json) return printJson({ items, more: found.length > limit });
  const titles = [
    { title: 'Time (UTC)' },
    { title: 'Write-off' },
    { title: 'Account' },
    { title: 'Amount', align: 'right' as const },
    { title: 'By' },
  ];
  const rows = items.map(({ recordedAt, id, accountId: of, amount, requestedBy }) => [
    recordedAt.replace('T', ' ').slice(0, 19),
    id,
    of,
    amount,
    requestedBy,
  ]);
  printText(rows.length === 0 ? 'There are none.' : table(titles, rows));
}

async function printDebts({
  limit,
  csv,
  json,
}: {
  limit: number;
  csv?: boolean;
  json?: boolean;
}): Promise<void> {
  const { items, totals } = await withDatabase(process.env, (pool) =>
    inSnapshot(pool, async (client) => ({
      items: (await readDebtors(client, { limit, afterId: null })).map(viewDebtor),
      totals: await readDebtTotals(client),
    })),
  );
  if (csv) return writeCsv(process.stdout, debtorColumns, inTurn(items));
  const { accounts, frozen } = totals;
  const debt = formatAmount(nanos(totals.debt));
  const owedRewards = formatAmount(nanos(totals.owedRewards));
  if (json) return printJson({ items, accounts, frozen, debt, owedRewards });
  const titles = [
    { title: 'Account' },
    { title: 'Main', align: 'right' as const },
    { title: 'Since' },
    { title: 'Reason' },
    { title: 'Disputes' },
  ];
  const rows = items.map(({ accountId, main, since, reason, disputes }) => [
    accountId,
    main,
    since ?? '',
    reason ?? '',
    disputes.map(({ disputeId }) => disputeId).join(' '),
  ]);
  const sums = `${accounts} accounts, ${frozen} frozen; they owe ${debt} USD, and ${owedRewards} USD of rewards.`;
  printText(rows.length === 0 ? 'Nobody owes, and nobody is frozen.' : `${table(titles, rows)}\n\n${sums}`);
}
