import type { Command } from 'commander';
import { version } from '#platform/version.js';
import { command } from './command.js';
import { fitHelp } from './help.js';
import { accountsCommand, keysCommand } from './people/accounts.commands.js';
import { approvalsCommand } from './approvals.commands.js';
import { backupCommand, restoreCommand } from './operations/backup.commands.js';
import { deadLettersCommand } from './operations/dead-letters.commands.js';
import { doctorCommand } from './operations/doctor.command.js';
import { financeCommand } from './finance.commands.js';
import { catalogCommand } from './catalog/catalog.commands.js';
import { channelsCommand } from './catalog/channels.commands.js';
import { groupsCommand } from './people/groups.commands.js';
import { addKeyShow } from './people/key-show.command.js';
import { adminCommand } from './people/people.commands.js';
import { addSupportCommands } from './people/support.commands.js';
import { pricesCommand } from './catalog/prices.commands.js';
import { retentionCommand } from './people/retention.command.js';
import { requestLogCommand } from './operations/request-log.command.js';
import { secretsCommand } from './operations/secrets.commands.js';
import { usageCommand } from './usage.command.js';
import { ledgerCommand, migrateCommand, topupCommand } from './money.commands.js';

const NOTES = `
Database:
  DATABASE_URL  login of the role tollgate_billing; else
  DATA_DIR      the data folder of a standalone relay (.data): the relay
                running there, or its embedded database, started for the
                command. Only migrate and restore create a database

Acting:
  --as, TOLLGATE_AS  email address of the person who is acting. Needed for
                     commands that move money, change the books, or decide
                     about prices, roles, accounts, keys and groups. Roles,
                     limits and approvals are those of the console

Amounts are credits as decimals, such as 5 or 0.02. A credit costs 1.3 of the payment currency.

Exit codes:
  0    done
  1    refused, or a check that failed; standard error has one sentence why
  2    the command line is wrong
  130  stopped by Ctrl-C or a signal, where that undoes what was begun

Examples:
  tollgate start
  tollgate admin create --email ada@example.com
  tollgate accounts create --name Acme --credits 5
  tollgate accounts list acme
  tollgate accounts show 01k0... --json
  tollgate topup record 01k0... --as ada@example.com --paid 13 --payment-id bank-4711
  tollgate ledger check --json
  tollgate finance trial-balance
  tollgate prices propose --price imgmodel-4=0.035 --dry-run
  tollgate catalog diff --vendor anthropic
  tollgate usage 01k0... --model imgmodel-4 --csv > usage.csv
  tollgate channels test
  tollgate dead-letters list
  tollgate secrets rotate
  tollgate backup /backups/today.age
  tollgate doctor`;

export function program(): Command {
  const tollgate = command('tollgate', 'People, accounts, keys, top-ups and the ledger of a Tollgate relay.')
    .helpOption('-h, --help', 'show this help')
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print one JSON document; works before or after the command')
    .hook('preAction', (root, command) => {
      if (!root.opts<{ json?: boolean }>().json) return;
      if (command.opts<{ csv?: boolean }>().csv)
        command.error("error: option '--csv' cannot be used with option '--json'");
      command.setOptionValue('json', true);
    })
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', NOTES);
  for (const command of commands()) tollgate.addCommand(command);
  everyCommand(tollgate, (command) => {
    command.exitOverride().showHelpAfterError('(add --help for what it takes)');
    fitHelp(command);
    if (command.commands.length === 0 && !WITHOUT_JSON.includes(pathOf(command))) addJson(command);
  });
  return tollgate;
}

const WITHOUT_JSON = ['finance export', 'tollgate start'];

function pathOf(command: Command): string {
  return `${command.parent?.name()} ${command.name()}`;
}

function addJson(command: Command): void {
  if (command.options.every(({ long }) => long !== '--json'))
    command.option('--json', 'print one JSON document');
}

function commands(): Command[] {
  return [
    adminCommand(),
    approvalsCommand(),
    addSupportCommands(accountsCommand()),
    addKeyShow(keysCommand()),
    topupCommand(),
    pricesCommand(),
    catalogCommand(),
    usageCommand(),
    requestLogCommand(),
    groupsCommand(),
    channelsCommand(),
    deadLettersCommand(),
    retentionCommand(),
    ledgerCommand(),
    financeCommand(),
    secretsCommand(),
    backupCommand(),
    restoreCommand(),
    doctorCommand(),
    migrateCommand(),
    startCommand(),
  ];
}

/** The relay reads its own options, --help and --json, and runs until a signal ends it. */
function startCommand(): Command {
  return command('start', 'run the relay: every program in one process, with its own database')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      await import('#apps/standalone/main.js');
    });
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}
