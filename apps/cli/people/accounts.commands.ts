import type { Command } from 'commander';
import type pg from 'pg';
import { setAccountLimits } from '#people/accounts/account-limits.js';
import {
  createCustomer,
  createKey,
  limitCustomerKey,
  revokeCustomerKey,
} from '#people/accounts/customers.js';
import { requireLeastTopup } from '#payments/finance-credit.js';
import { readPaymentCurrency } from '#payments/payments.config.js';
import { inTransaction } from '#database/database.js';
import { lockHolds } from '#database/locks.js';
import { VENDORA_MAIN } from '#groups/group.js';
import { findAccount } from '#identity/account.store.js';
import { readFact } from '#identity/installation.js';
import { listKeys, unknownAccount } from '#identity/key.store.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import type { TopupRequest } from '#ledger/postings/topup.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import { ConfigReader } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, operatorOf } from '../acting.js';
import { countArgument, creditsArgument, type Limit, limitArgument } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { operatorName } from '../operator-name.js';
import { firstItems, MORE, printFacts, printJson, printText, tableOf } from '../output.js';
import { recordTrial } from '../recorded-topup.js';
import { readWholeStatement, statementTable } from '../statement.js';

export function accountsCommand(): Command {
  const accounts = command('accounts', 'customer accounts and their balances');
  command('create', 'create an account with a key, and record a manual top-up for its credits', accounts)
    .requiredOption('--name <name>', 'name of the account')
    .option('--credits <amount>', 'credits for testing, only with simulated payments', creditsArgument)
    .option(...AS_OPTION)
    .option('--group <group>', 'group of the key: its models and multiplier', VENDORA_MAIN)
    .option('--json', 'has no effect: the answer is always JSON, because it contains the key')
    .action(create);
  command('show', 'balances and keys of an account', accounts)
    .argument('<account>', 'account id')
    .action(show);
  command('statement', 'transactions of an account, newest first', accounts)
    .argument('<account>', 'account id')
    .option('--limit <lines>', 'lines at most', countArgument, 50)
    .action(statement);
  addAccountLimits(accounts);
  return accounts;
}

function addAccountLimits(accounts: Command): void {
  command('limit', 'set or remove the limits of an account, instead of the defaults', accounts)
    .argument('<account>', 'account id')
    .option('--per-minute <requests>', 'requests per minute, or none', limitArgument)
    .option('--tokens <tokens>', 'tokens per minute, or none', limitArgument)
    .option('--images <images>', 'images per minute, or none', limitArgument)
    .option('--concurrent <requests>', 'concurrent requests, or none', limitArgument)
    .option(...AS_OPTION)
    .action(limitAccount);
}

export function keysCommand(): Command {
  const keys = command('keys', 'API keys of an account');
  command('create', 'create a key, which is shown only once', keys)
    .argument('<account>', 'account id')
    .option('--group <group>', 'group of the key: its models and multiplier', VENDORA_MAIN)
    .option('--name <name>', 'name of the key', 'key')
    .option(...AS_OPTION)
    .action(createAccountKey);
  command('revoke', 'revoke a key permanently; its calls are refused from then on', keys)
    .argument('<key>', 'key id, as `accounts show` lists it (not the key itself)')
    .option(...AS_OPTION)
    .action(revoke);
  command('limit', 'set or remove the limits of a key, effective immediately', keys)
    .argument('<key>', 'key id, as `accounts show` lists it')
    .option('--per-minute <requests>', 'requests per minute, or none', limitArgument)
    .option('--tasks <running>', 'videos and 3D assets in progress at once, or none', limitArgument)
    .option(...AS_OPTION)
    .action(limit);
  return keys;
}

interface CreateOptions extends Acting {
  name: string;
  credits?: Nanos;
  group: string;
}

async function create(options: CreateOptions): Promise<void> {
  const { name, credits, group } = options;
  if (credits) requireLeastTopup({ credits }, '--credits');
  const reader = new ConfigReader(process.env);
  const { currency } = reader.finish({ currency: readPaymentCurrency(reader) });
  await onDatabase(async (pool) => {
    const { actor, by } = await operatorOf(pool, options, ['support', 'finance', 'admin']);
    if (credits && actor) await requirePlayed(pool);
    const { accountId, apiKey } = await createCustomer(pool, { name, group, makerId: actor?.userId }, by);
    let balance: string | null = '0';
    try {
      if (credits) balance = await credit(pool, { accountId, credits, currency, by });
    } catch (error) {
      // If the connection broke at the commit, the credits may be there.
      balance = await balanceNow(pool, accountId).catch(() => null);
      throw error;
    } finally {
      // The account is there without its credits, too, and its key is shown only now.
      printJson({ accountId, apiKey, group, balance });
    }
  });
}

/** The balance after everything that is about to commit. */
function balanceNow(pool: pg.Pool, accountId: string): Promise<string> {
  return inTransaction(pool, async (client) => {
    await lockHolds(client, accountId);
    return formatAmount((await readBalance(client, accountId))!.main);
  });
}

/** Whoever creates an account decides nothing about it: somebody else records its money. */
async function requirePlayed(pool: pg.Pool): Promise<void> {
  if (await readFact(pool, 'played-payments')) return;
  throw new OperatorError(
    'This relay takes real payments: leave out --credits, and have another person record the payment with `tollgate topup record`.',
  );
}

async function credit(
  pool: pg.Pool,
  { accountId, credits, currency, by }: { accountId: string; credits: Nanos; currency: string; by: string },
): Promise<string> {
  const request: TopupRequest = {
    accountId,
    provider: 'manual',
    paymentId: `cli-${newId()}`,
    credits,
    paidMinor: priceCredits(credits, STANDARD_RATE).paidMinor,
    rate: STANDARD_RATE,
    currency,
  };
  return formatAmount((await recordTrial(pool, request, by)).balance);
}

async function show(accountId: string, options: { json?: boolean }): Promise<void> {
  const answer = await onDatabase((pool) => readAccount(pool, accountId));
  if (options.json) return printJson(answer);
  const { keys, name, main, held, invite, frozen } = answer;
  printFacts([
    ['Account', accountId],
    ['Name', name],
    ['Balance', `${main} credits`],
    ['Held', `${held} credits`],
    ['Invite', `${invite} credits`],
    ['Frozen', frozen ? 'yes' : 'no'],
  ]);
  const state = ({ revoked }: { revoked: boolean }) => (revoked ? 'revoked' : 'live');
  printText(`\n${tableOf(keys, { 'Key id': 'keyId', Name: 'name', Group: 'group', State: state })}`);
}

async function readAccount(pool: pg.Pool, accountId: string) {
  const [account, balance] = await Promise.all([findAccount(pool, accountId), readBalance(pool, accountId)]);
  if (!account || !balance) throw unknownAccount(accountId);
  const { main, held, invite, frozen } = balance;
  const amounts = { main: formatAmount(main), held: formatAmount(held), invite: formatAmount(invite) };
  const keys = (await listKeys(pool, accountId)).map((key) => ({
    keyId: key.keyId,
    name: key.name,
    group: key.group,
    revoked: key.revokedAt !== null,
  }));
  return { accountId, name: account.name, ...amounts, frozen, keys };
}

async function statement(accountId: string, options: { limit: number; json?: boolean }): Promise<void> {
  const lines = await onDatabase(async (pool) => {
    if (!(await findAccount(pool, accountId))) throw unknownAccount(accountId);
    return readWholeStatement(pool, accountId, options.limit + 1);
  });
  const { items, more } = firstItems(lines, options.limit);
  if (options.json) return printJson({ accountId, lines: items, more });
  printText(statementTable(items));
  if (more) printText(MORE);
}

async function createAccountKey(
  accountId: string,
  options: Acting & { group: string; name: string; json?: boolean },
): Promise<void> {
  const { group, name } = options;
  const { keyId, apiKey } = await onDatabase(async (pool) =>
    createKey(pool, { accountId, group, name }, await operatorOf(pool, options, ['admin'])),
  );
  if (options.json) return printJson({ keyId, apiKey, accountId, group, name });
  printFacts([
    ['Key id', keyId],
    ['API key', `${apiKey}   (keep it: it is not shown again)`],
    ['Group', group],
  ]);
}

async function revoke(keyId: string, options: Acting & { json?: boolean }): Promise<void> {
  const { accountId, revokedAt } = await onDatabase(async (pool) =>
    revokeCustomerKey(pool, keyId, await operatorOf(pool, options, ['support', 'admin'])),
  );
  if (options.json) return printJson({ keyId, accountId, revokedAt: revokedAt.toISOString() });
  printText(`Key ${keyId} of account ${accountId} has been revoked since ${revokedAt.toISOString()}.`);
}

interface LimitOptions extends Acting {
  perMinute?: Limit;
  tasks?: Limit;
  json?: boolean;
}

async function limit(keyId: string, options: LimitOptions, command: Command): Promise<void> {
  const { perMinute, tasks, json } = options;
  if (perMinute === undefined && tasks === undefined)
    command.error('error: give --per-minute, --tasks or both');
  const limits = { requestsPerMinute: asLimit(perMinute), runningTasks: asLimit(tasks) };
  const limited = await onDatabase(async (pool) =>
    limitCustomerKey(pool, { keyId, limits }, await operatorOf(pool, options, ['admin'])),
  );
  if (json) return printJson({ keyId, ...limited });
  printFacts([
    ['Key id', keyId],
    ['Requests per minute', String(limited.requestsPerMinute ?? 'no limit')],
    ['Running tasks', String(limited.runningTasks ?? 'no limit')],
  ]);
}

/** The options for the limits of an account, and their names in the answer. */
const ACCOUNT_LIMITS = [
  ['perMinute', 'requestsPerMinute', 'Requests per minute'],
  ['tokens', 'tokensPerMinute', 'Tokens per minute'],
  ['images', 'imagesPerMinute', 'Images per minute'],
  ['concurrent', 'maxConcurrentRequests', 'Requests at the same time'],
] as const;

type AccountLimitOptions = Acting & { [Option in (typeof ACCOUNT_LIMITS)[number][0]]?: Limit } & {
  json?: boolean;
};

async function limitAccount(
  accountId: string,
  options: AccountLimitOptions,
  command: Command,
): Promise<void> {
  const given = ACCOUNT_LIMITS.filter(([option]) => options[option] !== undefined);
  if (given.length === 0) command.error('error: give --per-minute, --tokens, --images or --concurrent');
  const change = Object.fromEntries(given.map(([option, name]) => [name, asLimit(options[option])]));
  const limited = await onDatabase(async (pool) => {
    if (!(await findAccount(pool, accountId))) throw unknownAccount(accountId);
    const doer = await operatorOf(pool, options, ['admin']);
    return setAccountLimits(pool, { ...doer, accountId, requestId: operatorName() }, change);
  });
  if (options.json) return printJson({ accountId, ...limited });
  const rows = ACCOUNT_LIMITS.map(([, name, label]): [string, string] => [
    label,
    String(limited[name] ?? 'as everybody'),
  ]);
  printFacts([['Account', accountId], ...rows]);
}

function asLimit(given: Limit | undefined): number | null | undefined {
  return given === 'none' ? null : given;
}
