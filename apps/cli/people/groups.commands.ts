import type { Command } from 'commander';
import { grantAccountGroup, withdrawAccountGroup } from '#people/accounts/customers.js';
import { findAccount } from '#identity/account.store.js';
import { groupsOfAccount } from '#groups/account-groups.js';
import { unknownAccount } from '#identity/key.store.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, operatorOf } from '../acting.js';
import { onDatabase } from '../database.access.js';
import { printJson, printList, printText } from '../output.js';

const ACCOUNT = ['<account>', 'account id'] as const;

interface Options extends Acting {
  json?: boolean;
}

export function groupsCommand(): Command {
  const groups = command('groups', 'the groups that an account can create keys in');
  command('list', "an account's groups: open to everyone, or granted to it", groups)
    .argument(...ACCOUNT)
    .action(list);
  changeCommand(groups, 'grant').description('let an account create keys in a group; safe to repeat');
  changeCommand(groups, 'revoke').description(
    'remove access to a group; calls with its keys are refused from then on',
  );
  return groups;
}

function changeCommand(groups: Command, name: 'grant' | 'revoke'): Command {
  return groups
    .command(name)
    .argument(...ACCOUNT)
    .argument('<group>', 'name of the group')
    .option(...AS_OPTION)
    .action((account: string, group: string, options: Options) =>
      change({ account, group, isGrant: name === 'grant' }, options),
    );
}

async function list(accountId: string, options: { json?: boolean }): Promise<void> {
  const groups = await onDatabase(async (pool) => {
    if (!(await findAccount(pool, accountId))) throw unknownAccount(accountId);
    return groupsOfAccount(pool, accountId);
  });
  const rows = groups.map(({ group, isOpen, grant }) => ({
    group,
    isOpen,
    grantedBy: grant?.by ?? null,
    grantedAt: grant?.at.toISOString() ?? null,
  }));
  await printList(options, {
    items: rows,
    json: { accountId, groups: rows },
    table: {
      Group: 'group',
      'Open to all': ({ isOpen }) => (isOpen ? 'yes' : 'no'),
      'Granted by': ({ grantedBy }) => grantedBy ?? '–',
    },
  });
}

async function change(
  { account: accountId, group, isGrant }: { account: string; group: string; isGrant: boolean },
  options: Options,
): Promise<void> {
  const of = { accountId, group };
  const changed = await onDatabase(async (pool) => {
    const doer = await operatorOf(pool, options, ['admin']);
    return isGrant ? grantAccountGroup(pool, of, doer) : withdrawAccountGroup(pool, of, doer);
  });
  if (options.json) return printJson({ ...of, changed });
  const done = isGrant ? `can create keys in ${group}` : `no longer has a grant for ${group}`;
  printText(`Account ${accountId} ${done}${changed ? '' : '; nothing changed'}.`);
}
