import type { Command } from 'commander';
import { AccountReader } from '#people/accounts/account.reader.js';
import { foundAccountView } from '#people/accounts/account.view.js';
import { freezeAccount, unfreezeAccount } from '#people/accounts/freezing.js';
import { unknownAccount } from '#identity/key.store.js';
import type { FreezeResult } from '#ledger/postings/freeze.js';
import { OperatorError } from '#platform/errors.js';
import { shown } from '#platform/http/fields.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, actingPerson } from '../acting.js';
import { countArgument } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { operatorName } from '../operator-name.js';
import { type Columns, printJson, printText, right, tableOf } from '../output.js';

/** What support does with accounts, apart from creating and showing them. */
export function addSupportCommands(accounts: Command): Command {
  accounts
    .command('list')
    .alias('find')
    .description('accounts, newest first: all, or those matching an id, key, email address or name')
    .argument('[text]', 'an id, or the start of a key, email address or name')
    .option('--limit <accounts>', 'accounts at most', countArgument, 50)
    .option('--cursor <cursor>', 'next page: nextCursor of the previous one')
    .action(list);
  command('freeze', 'freeze an account: refuse all of its calls from now on', accounts)
    .argument('<account>', 'account id')
    .requiredOption('--reason <text>', 'the reason, which the owner can read')
    .option(...AS_OPTION)
    .action((accountId: string, { reason, ...options }: Options & { reason: string }) =>
      change(accountId, options, (pool, operation) => freezeAccount(pool, operation, reason)),
    );
  command('unfreeze', 'unfreeze an account; if its balance is below zero, only credits do that', accounts)
    .argument('<account>', 'account id')
    .requiredOption('--note <text>', 'the reason, for the audit log')
    .option(...AS_OPTION)
    .action((accountId: string, { note, ...options }: Options & { note: string }) =>
      change(accountId, options, (pool, operation) => unfreezeAccount(pool, operation, note)),
    );
  return accounts;
}

async function list(
  query: string | undefined,
  { limit, cursor, json }: { limit: number; cursor?: string; json?: boolean },
): Promise<void> {
  const { items, nextCursor } = await onDatabase((pool) =>
    new AccountReader(pool).search({ limit, cursor, query }),
  );
  const accounts = items.map((account) => shown(foundAccountView, account));
  if (json) return printJson({ accounts, more: nextCursor !== null, nextCursor });
  const columns: Columns<(typeof accounts)[number]> = {
    'Account id': 'accountId',
    Name: 'name',
    Email: ({ email }) => email ?? '',
    Balance: right('main'),
    State: ({ frozen }) => (frozen ? 'frozen' : 'live'),
  };
  printText(tableOf(accounts, columns));
  if (nextCursor !== null) process.stderr.write(`There are more: add --cursor ${nextCursor}\n`);
}

type Change = (
  pool: Parameters<typeof freezeAccount>[0],
  operation: Parameters<typeof freezeAccount>[1],
) => Promise<FreezeResult>;

interface Options extends Acting {
  json?: boolean;
}

async function change(accountId: string, options: Options, work: Change): Promise<void> {
  const { json } = options;
  const result = await onDatabase(async (pool) => {
    const actor = await actingPerson(pool, options, ['support', 'admin']);
    return work(pool, { actor, by: `user:${actor.userId}`, accountId, requestId: operatorName() });
  });
  if (result.outcome === 'not_found') throw unknownAccount(accountId);
  if (result.outcome === 'deleted') throw new OperatorError('The account was deleted, and stays frozen.');
  if (result.outcome === 'in_debt')
    throw new OperatorError('The balance is below zero. Add credits to unfreeze the account.');
  const { frozen, reason } = result.after;
  const changed = result.outcome === 'changed';
  if (json) return printJson({ accountId, frozen, reason, changed });
  printText(
    `Account ${accountId} is ${frozen ? `frozen: ${reason}` : 'live'}${changed ? '' : ' (it was before)'}.`,
  );
}
