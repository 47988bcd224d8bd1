import type { Command, OptionValues } from 'commander';
import type pg from 'pg';
import { readDatabaseSetup, setUpDatabase } from '#operations/database.setup.js';
import { readAlone } from '#platform/config.js';
import type { Done } from '#approvals/approval.service.js';
import { rateInForce } from '#topup/account-rates.js';
import type { TopupResult } from '#ledger/postings/topup.js';
import { checkLedger, type LedgerCheckResult } from '#ledger/checks/ledger-check.js';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { OperatorError } from '#platform/errors.js';
import { convert, MINOR_PER_UNIT, type TopupRate } from '#topup/conversion.js';
import { command } from './command.js';
import { AS_OPTION, type Acting, actingPerson } from './acting.js';
import { waitingFor, withServices } from './services.js';
import {
  creditsArgument,
  paidArgument,
  paymentIdArgument,
  rateArgument,
  secondsArgument,
} from './arguments.js';
import { verifyCommand } from './operations/ledger-verify.command.js';
import { migrateDatabase, onDatabase } from './database.access.js';
import { printFacts, printJson, printText, table } from './output.js';
import { withBar } from './progress.js';
import { operatorName } from './operator-name.js';

interface TopupOptions extends OptionValues, Acting {
  credits?: Nanos;
  paid?: bigint;
  rate?: TopupRate;
  paymentId: string;
  json?: boolean;
}

export function topupCommand(): Command {
  const topup = command('topup', 'payments that were credited');
  command(
    'record',
    'record a payment made elsewhere; repeating its payment id changes nothing. Above the daily limit, a second person must approve',
    topup,
  )
    .argument('<account>', 'account id')
    .option('--credits <amount>', 'credits bought; the price follows from the rate', creditsArgument)
    .option('--paid <amount>', 'amount paid; the credits follow from the rate', paidArgument)
    .option('--rate <rate>', 'the rate the account must have, 1.3 or 1.2', rateArgument)
    .option(...AS_OPTION)
    .requiredOption(
      '--payment-id <id>',
      "the payment's own id, which is credited only once",
      paymentIdArgument,
    )
    .action(record);
  return topup;
}

async function record(accountId: string, options: TopupOptions, command: Command): Promise<void> {
  const { credits, paid, paymentId } = options;
  if ((credits === undefined) === (paid === undefined)) {
    command.error('error: give either --credits or --paid', { exitCode: 2 });
  }
  if (credits === 0n) command.error('error: a top-up buys more than nothing', { exitCode: 2 });
  const { answer, rate, paidMinor } = await withServices(async (services) => {
    const { pool, transfers, currency } = services;
    const actor = await actingPerson(pool, options, ['finance']);
    const terms = await approvedRate(pool, accountId, options.rate);
    const bought = convert(paid === undefined ? { credits: credits! } : { payMinor: paid }, terms);
    const payment = { paymentId, currency, valueDate: null, reason: 'Recorded by the command line.' };
    const asking = { actor, requestId: `payment:${paymentId}`, auditId: operatorName() };
    const transfer = { ...bought, ...payment, accountId, orderId: null };
    const recorded = await transfers.recordTransfer(transfer, asking);
    return { answer: recorded, rate: terms, paidMinor: bought.paidMinor };
  });
  printTopup(answer, {
    accountId,
    paymentId,
    rate,
    paid: formatAmount(nanos((paidMinor * 1_000_000_000n) / MINOR_PER_UNIT)),
    json: options.json,
  });
}

/** The rate is the account's; a command cannot choose another. @throws OperatorError */
async function approvedRate(pool: pg.Pool, accountId: string, asked?: TopupRate): Promise<TopupRate> {
  const rate = await rateInForce(pool, accountId);
  if (asked === undefined || asked === rate) return rate;
  throw new OperatorError(
    `The account's rate is ${rate}. To use another one, grant it first, from a ticket or as an administrator.`,
  );
}

function printTopup(
  { done, approvalId }: Done<TopupResult>,
  of: { accountId: string; paymentId: string; rate: TopupRate; paid: string; json?: boolean | undefined },
): void {
  const { json, ...recorded } = of;
  if (done === null) {
    if (json) return printJson({ ...recorded, topupId: null, created: false, approvalId });
    return printText(waitingFor(approvalId));
  }
  const answer = {
    ...recorded,
    topupId: done.topupId,
    created: done.created,
    credits: formatAmount(done.credits),
    balance: formatAmount(done.balance),
  };
  if (json) return printJson(answer);
  printFacts([
    ['Top-up', `${answer.topupId}${answer.created ? '' : '   (was recorded before; nothing changed)'}`],
    ['Credits', `${answer.credits} credits for ${answer.paid} at rate ${answer.rate}`],
    ['Balance', `${answer.balance} credits`],
  ]);
}

export function ledgerCommand(): Command {
  const ledger = command('ledger', 'the double-entry ledger');
  command(
    'check',
    'verify the invariants of the ledger on a live database; exits 1 if one is violated',
    ledger,
  )
    .option('--grace <seconds>', 'how young work in flight may be', secondsArgument, 60_000)
    .action(check);
  return ledger.addCommand(verifyCommand());
}

async function check(options: { grace: number; json?: boolean }): Promise<void> {
  const result = await onDatabase((pool) => checkShown(pool, options.grace));
  if (!result.ok) process.exitCode = 1;
  if (options.json) return printJson({ ok: result.ok, violations: result.violations });
  printText(checkReport(result));
}

function checkShown(pool: pg.Pool, graceMs: number): Promise<LedgerCheckResult> {
  return withBar('rules checked', (onProgress) => checkLedger(pool, { graceMs, onProgress }));
}

export function checkReport({ ok, violations }: LedgerCheckResult): string {
  if (ok) return 'Ledger check: every invariant holds.';
  const parts = violations.map(({ invariant, message, rows }) => {
    const titles = Object.keys(rows[0] ?? {});
    const cells = rows.map((row) => titles.map((title) => row[title] ?? ''));
    const offenders = rows.length === 0 ? '' : `\n${table(titles, cells)}`;
    return `Invariant ${invariant}: ${message}.${offenders}`;
  });
  return `Ledger check: ${violations.length} violated.\n\n${parts.join('\n\n')}`;
}

export function migrateCommand(): Command {
  return command(
    'migrate',
    'update the database schema: OWNER_DATABASE_URL, else the embedded database of DATA_DIR',
  ).action(async (options: { json?: boolean }) => {
    const migrated = process.env['OWNER_DATABASE_URL']
      ? await setUpDatabase(readAlone(process.env, readDatabaseSetup))
      : await migrateDatabase(process.env);
    if (options.json) return printJson({ migrated });
    printText(migrated.length === 0 ? 'The database is up to date.' : `Applied ${migrated.join(', ')}.`);
  });
}
