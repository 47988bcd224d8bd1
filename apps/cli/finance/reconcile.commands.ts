import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type BankState, FAULTY_BANK } from '#finance/provider-reports/bank/bank-matching.js';
import { FAULTY, type MatchState } from '#finance/provider-reports/payments/match.js';
import { FAULTY_PAYOUTS, type PayoutState } from '#finance/provider-reports/payments/payout-matching.js';
import { bankListing, matchListing, payoutListing } from '#finance/provider-reports/reconciliation.lists.js';
import type { ReportingProvider } from '#finance/provider-reports/report-line.js';
import { FAULTY_WORK, type WorkState, workStates } from '#finance/reports/charges-tasks.js';
import { workListing } from '#finance/views/report-files.js';
import { newId } from '#platform/ids.js';
import { OperatorError } from '#platform/errors.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, actingPerson } from '../acting.js';
import { dayArgument, countArgument, secondsArgument, timeArgument } from '../arguments.js';
import { firstOf } from '../database.access.js';
import { operatorName } from '../operator-name.js';
import { type Columns, minute, printJson, printText } from '../output.js';
import { waitingFor, withServices } from '../services.js';
import { printCoverage, printDays, printItems, printWorkDays } from './reconcile.output.js';

const GRACE_MS = 300_000;

const NOTES = `
States: matched; accepted (reported in two versions, and a person accepted that); waiting (too recent, or reports do not
reach that far yet); not_covered (in a gap between reports); missing_here (they have it, we do not); missing_there (we have
it, they do not); differs; twice. Any of these from not_covered on exits with 1. A payout is unlinked if no line has to name
it, and lines_missing if one should. A bank line is set_aside if someone ignored it, and refused if it could not be posted.

Examples:
  tollgate finance reconcile payments --from 2026-01-01 --to 2026-02-01 --faults
  tollgate finance reconcile payments --days
  tollgate finance reconcile bank --state missing_here --json
  tollgate finance reconcile payments --before 2026-02-01 --faults`;

interface Range {
  from?: string;
  to?: string;
  provider?: ReportingProvider;
  before?: Date;
  limit: number;
  faults?: boolean;
  json?: boolean;
}

const GRACE_OPTION = [
  '--grace <seconds>',
  'ignore anything younger, which may be in progress',
  secondsArgument,
  GRACE_MS,
] as const;

const ABOUT = 'compare our books with payment providers and banks; exits 1 if something is wrong';

export function reconcileCommand(): Command {
  const reconcile = command('reconcile', ABOUT).addHelpText('after', NOTES);
  withRange(command('payments', 'compare payments, refunds and disputes with reports', reconcile))
    .addOption(provider())
    .addOption(states('matched', 'accepted', 'waiting', ...FAULTY))
    .option('--days', 'totals by day')
    .option(...GRACE_OPTION)
    .addOption(before())
    .action(payments);
  withRange(command('payouts', 'compare payouts with their lines', reconcile))
    .addOption(provider())
    .addOption(states('matched', 'accepted', 'unlinked', 'waiting', ...FAULTY_PAYOUTS))
    .addOption(before())
    .action(payouts);
  withRange(command('bank', 'compare bank lines with payouts and transfers', reconcile))
    .option('--account <name>', 'only lines of this account')
    .addOption(states('matched', 'set_aside', 'waiting', ...FAULTY_BANK))
    .addOption(before())
    .action(bank);
  addCharges(reconcile);
  addReportCommands(reconcile);
  return reconcile;
}

function addCharges(reconcile: Command): void {
  withRange(command('charges', 'compare charges with tasks and requests of the last 31 days', reconcile))
    .addOption(states(...workStates))
    .option('--days', 'totals by day')
    .option(...GRACE_OPTION)
    .action(charges);
}

/** Findings about the reports themselves. */
function addReportCommands(reconcile: Command): void {
  command(
    'coverage',
    'the times that reports cover, and the gaps; exits 1 if there is a gap',
    reconcile,
  ).action(printCoverage);
  command(
    'accept',
    'accept a line that a later report contradicts, or a payout that no line names',
    reconcile,
  )
    .addArgument(new Argument('<provider>', 'who reported it').choices(['stripe', 'sandbox']))
    .argument('<line>', "the provider's id of the line, as `reconcile payments --json` names it")
    .requiredOption('--reason <text>', 'why this is right', reasonArgument)
    .option(...AS_OPTION)
    .action(accept);
}

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 31;

async function charges(options: Range & { state?: WorkState; days?: boolean; grace: number }): Promise<void> {
  const to = options.to === undefined ? new Date() : new Date(`${options.to}T00:00:00Z`);
  const begin = new Date(to.getTime() - DAYS_SHOWN * DAY_MS);
  const from = options.from === undefined ? begin : new Date(`${options.from}T00:00:00Z`);
  if (from >= to) throw new OperatorError('--to must be after --from.');
  const range = { from, to, graceMs: options.grace };
  if (options.days) return printWorkDays(range, options);
  const query = { ...range, states: statesOf(options, FAULTY_WORK) };
  const { items, more } = await firstOf(workListing(query), options.limit);
  const told = items.map((item) => {
    return { ...item, message: `${item.subject} ${item.state.replaceAll('_', ' ')}.` };
  });
  const columns: Columns<(typeof told)[number]> = {
    'Time (UTC)': ({ at }) => minute(at),
    What: 'subject',
    Charge: 'chargeId',
    Held: 'amount',
    Settled: 'settled',
    Transactions: ({ transactionIds }) => transactionIds.join(' '),
  };
  printItems({ items: told, more }, columns, options);
}

function withRange(command: Command): Command {
  return command
    .option('--from <day>', 'from this UTC day', dayArgument)
    .option('--to <day>', 'the day after the last day', dayArgument)
    .option('--faults', 'only items that someone must look at')
    .option('--limit <count>', 'at most this many', countArgument, 200);
}

function before(): Option {
  return new Option(
    '--before <time>',
    'check as for closing a period that ends then: items dated before it, including those no report covers yet',
  ).argParser(timeArgument);
}

function provider(): Option {
  return new Option('--provider <name>').choices(['stripe', 'sandbox']);
}

function states(...names: string[]): Option {
  return new Option('--state <state>').choices(names).conflicts('faults');
}

async function payments(
  options: Range & { state?: MatchState; days?: boolean; grace: number },
): Promise<void> {
  const query = {
    ...daysOf(options),
    provider: options.provider ?? null,
    states: statesOf(options, FAULTY),
    graceMs: options.grace,
  };
  if (options.days) return printDays(query, options);
  printItems(
    await firstOf(matchListing(query), options.limit),
    {
      'Time (UTC)': ({ at }) => minute(at),
      What: ({ provider: by, kind }) => `${by} ${kind}`,
      Id: 'id',
      Ours: ({ ours }) => ours?.amount,
      Theirs: ({ theirs }) => theirs?.amount,
    },
    options,
  );
}

async function payouts(options: Range & { state?: PayoutState }): Promise<void> {
  const states = statesOf(options, FAULTY_PAYOUTS);
  const query = { ...daysOf(options), provider: options.provider ?? null, states };
  printItems(
    await firstOf(payoutListing(query), options.limit),
    {
      'Time (UTC)': ({ at }) => minute(at),
      Payout: 'payoutId',
      Amount: 'amount',
      Payments: 'payments',
      Refunds: 'refunds',
      Disputes: 'disputes',
      Fees: 'fees',
    },
    options,
  );
}

async function bank(options: Range & { state?: BankState; account?: string }): Promise<void> {
  const query = {
    ...daysOf(options),
    bankAccountId: options.account ?? null,
    states: statesOf(options, FAULTY_BANK),
  };
  printItems(
    await firstOf(bankListing(query), options.limit),
    {
      Day: ({ at }) => at.slice(0, 10),
      What: ({ kind, id }) => `${kind} ${id}`,
      Amount: ({ amount, currency }) => `${amount} ${currency}`,
      Reference: 'reference',
    },
    options,
  );
}

function statesOf<S>(
  { state, faults }: { state?: S; faults?: boolean },
  faulty: readonly S[],
): readonly S[] | null {
  if (faults) return faulty;
  return state === undefined ? null : [state];
}

function daysOf({ from, to, before: end }: Range): Record<'from' | 'to' | 'before', string | null> {
  const start = (day: string | undefined) => (day === undefined ? null : `${day}T00:00:00Z`);
  return { from: start(from), to: start(to), before: end?.toISOString() ?? null };
}

function reasonArgument(text: string): string {
  if (text.trim() !== '' && text.length <= 2_000) return text.trim();
  throw new InvalidArgumentError('Give a reason of at most 2000 characters.');
}

async function accept(
  provider: ReportingProvider,
  lineId: string,
  options: Acting & { reason: string; json?: boolean },
): Promise<void> {
  const { reason, json } = options;
  const { state, approvalId } = await withServices(async ({ pool, lines }) => {
    const actor = await actingPerson(pool, options, ['finance']);
    const asking = { actor, requestId: newId(), auditId: operatorName() };
    return lines.accept({ provider, lineId }, reason, asking);
  });
  if (json) return printJson({ state, provider, lineId, reason, approvalId });
  printText(approvalId ? waitingFor(approvalId) : `The line ${lineId} of ${provider} is accepted.`);
}
