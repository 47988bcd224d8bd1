import { z } from 'zod';
import { type Command, Option } from 'commander';
import type { AdjustmentService, AdjustmentResult } from '#finance/adjustments/adjustment.service.js';
import { adjustmentView, writeOffView } from '#finance/adjustments/adjustments.view.js';
import { type AdjustmentReason, adjustmentReasons } from '#ledger/postings/adjustment.js';
import type { Nanos } from '#money/amount.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { newId } from '#platform/ids.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, actingPerson } from '../acting.js';
import { creditsArgument } from '../arguments.js';
import { waitingFor, withServices } from '../services.js';
import { operatorName } from '../operator-name.js';
import { printFacts, printJson, printText } from '../output.js';
import { debtsCommand, registerCommand, writeOffsCommand } from './corrections.lists.js';
import { shown } from '#platform/http/fields.js';

const REQUEST_OPTION = ['--request-id <id>', 'the same again changes nothing'] as const;

const NOTES = `
One person can adjust up to ADJUSTMENT_LIMIT (20 credits) a day alone. The control plane stores this limit when it starts, and
this command cannot change it. Larger amounts need a second person: see \`tollgate approvals\`. Adjustments are never edited:
reverse one and adjust again.

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
  return command('adjust', 'add or remove credits of an account because of a ticket')
    .argument('<account>', 'account id')
    .option('--give <credits>', 'credits to add', creditsArgument)
    .addOption(
      new Option('--take <credits>', 'credits to remove').argParser(creditsArgument).conflicts('give'),
    )
    .addOption(new Option('--reason <reason>').choices(adjustmentReasons).makeOptionMandatory())
    .requiredOption('--ticket <id>', 'the ticket behind it')
    .requiredOption('--note <text>', 'what happened')
    .option(...AS_OPTION)
    .option(...REQUEST_OPTION)
    .addHelpText('after', NOTES)
    .action(adjust);
}

function reverseCommand(): Command {
  return decided(
    command('reverse-adjustment', 'reverse an adjustment completely, once').argument(
      '<adjustment>',
      'its id',
    ),
    reverse,
  );
}

function writeOffCommand(): Command {
  return decided(
    command('write-off', 'write off the debt of an account, or part of it; once a month')
      .argument('<account>', 'account id')
      .option('--amount <credits>', 'part of the debt; all of it by default', creditsArgument)
      .requiredOption('--ticket <id>', 'the ticket behind it'),
    writeOff,
  );
}

function reverseWriteOffCommand(): Command {
  return decided(
    command('reverse-write-off', 'reverse a write-off completely, once; this restores the debt').argument(
      '<write-off>',
      'its id',
    ),
    reverseGivenUp,
  );
}

/** With the reason, and who decides. */
function decided(decision: Command, action: Parameters<Command['action']>[0]): Command {
  return decision
    .requiredOption('--note <text>', 'why')
    .option(...AS_OPTION)
    .option(...REQUEST_OPTION)
    .action(action);
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
  printMade('Adjustment', viewDone(answer, adjustmentView), options);
}

async function reverse(adjustmentId: string, options: Made): Promise<void> {
  const answer = await asked(options, (service, asking) =>
    service.reverse(adjustmentId, options.note, asking),
  );
  printMade('Reversal', viewDone(answer, adjustmentView), options);
}

async function writeOff(
  accountId: string,
  options: Made & { amount?: Nanos; ticket: string },
  command: Command,
): Promise<void> {
  const { amount = null, ticket: ticketId, note } = options;
  if (amount === 0n) command.error('error: --amount must be above 0', { exitCode: 2 });
  const wanted = { accountId, ticketId, amount, note };
  const answer = await asked(options, (service, asking) => service.writeOff(wanted, asking));
  printMade('Write-off', viewDone(answer, writeOffView), options);
}

async function reverseGivenUp(writeOffId: string, options: Made): Promise<void> {
  const { note } = options;
  const answer = await asked(options, (service, asking) => service.reverseWriteOff(writeOffId, note, asking));
  printMade('Reversal', viewDone(answer, writeOffView), options);
}

function asked<T>(
  options: Made,
  work: (service: AdjustmentService, asking: FinanceRequest) => Promise<AdjustmentResult<T>>,
): Promise<AdjustmentResult<T>> {
  const { requestId = newId() } = options;
  return withServices(async ({ pool, adjustments }) => {
    const actor = await actingPerson(pool, options, ['finance']);
    return work(adjustments, { actor, requestId, auditId: operatorName() });
  });
}

type Shown = z.output<typeof adjustmentView> | z.output<typeof writeOffView>;

function viewDone<S extends typeof adjustmentView | typeof writeOffView>(
  { state, done, approvalId }: AdjustmentResult<z.input<S>>,
  shape: S,
): { state: string; made: Shown | null; approvalId: string | null } {
  return { state, made: done && (shown(shape, done) as Shown), approvalId };
}

function printMade(
  title: string,
  { state, made, approvalId }: ReturnType<typeof viewDone>,
  { json }: Made,
): void {
  if (made === null) {
    if (json) return printJson({ state, approvalId });
    return printText(state === 'rejected' ? 'Another person rejected it.' : waitingFor(approvalId ?? ''));
  }
  if (json) return printJson(made);
  printFacts([
    [title, made.id],
    ['Account', made.accountId],
    ['Amount', `${made.amount} credits`],
    ['Transaction', made.transactionId],
  ]);
}
