import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import { passwordLink } from '#mail/mail.writer.js';
import { email } from '#people/people.fields.js';
import { listOperators, makeOperator, type Operator } from '#people/operators.js';
import { dataFolder, findRunningRelay } from '#operations/data-folder.js';
import { PASSWORD_CHARS, PasswordHasher } from '#identity/password.hasher.js';
import { passwordFault, type PasswordOwner, serviceNames } from '#identity/password.rules.js';
import { type Role, roles } from '#identity/role.js';
import { ConfigReader } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, actingPersonIfAny } from '../acting.js';
import { onDatabase } from '../database.access.js';
import { waitingFor, withServices } from '../services.js';
import { operatorName } from '../operator-name.js';
import { facts, printJson, printList, printText } from '../output.js';

const DAY_MS = 86_400_000;
const PASSWORD_VARIABLE = 'TOLLGATE_ADMIN_PASSWORD';
const STAFF = roles.filter((role) => role !== 'user');

export function adminCommand(): Command {
  const admin = command('admin', 'the people who operate the relay');
  command(
    'create',
    'create the first administrator; after that, request roles for a person, which another administrator approves',
    admin,
  )
    .requiredOption('--email <address>', 'email address for signing in', emailArgument)
    .option('--name <name>', 'account name for a new person', 'Operator')
    .option('--role <role...>', `${STAFF.join(', ')}: those to grant`, roleArgument)
    .option(...AS_OPTION)
    .option('--prompt', 'ask for a password in the terminal')
    .option('--link', 'print a one-time link to set or replace a password')
    .addHelpText('after', CREATE_NOTES)
    .action(create);
  command('list', 'everyone with a staff role', admin).action(list);
  return admin;
}

const CREATE_NOTES = `
Nobody has to approve the first administrator, who can appoint the second one alone. Every other role needs
the approval of another administrator (\`tollgate approvals\`, or the console).

A new person gets a one-time link, valid for a day, unless you set a password with --prompt or with
${PASSWORD_VARIABLE} in the environment. Without --role, the role is admin. Administrators cannot do
finance work: if one person does both, grant that role too.

Examples:
  tollgate admin create --email ada@example.com --role admin finance support
  tollgate admin create --email grace@example.com --as ada@example.com`;

interface CreateOptions extends Acting {
  email: string;
  name: string;
  role?: Role[];
  prompt?: boolean;
  link?: boolean;
  json?: boolean;
}

async function create(options: CreateOptions): Promise<void> {
  const password = options.prompt ? await askPassword() : process.env[PASSWORD_VARIABLE] || null;
  if (password !== null)
    checkPassword(password, { email: options.email, names: serviceNames(await consoleUrl()) });
  const passwordHash =
    password === null ? null : await new PasswordHasher().hash(password, { userId: 'operator' });
  const operator = await withServices(async (services) => {
    const { pool } = services;
    const by = await actingPersonIfAny(pool, options, ['admin']);
    const { rowCount } = await pool.query('SELECT FROM users WHERE email = $1', [options.email]);
    const needsLink = options.link === true || (!rowCount && passwordHash === null);
    return makeOperator(services, {
      email: options.email,
      name: options.name,
      roles: options.role ?? ['admin'],
      passwordHash,
      linkLifeMs: needsLink ? DAY_MS : null,
      by,
      requestId: operatorName(),
    });
  });
  await print(operator, options);
}

async function print({ token, ...operator }: Operator, { json }: CreateOptions): Promise<void> {
  const link = token === null ? null : passwordLink(await consoleUrl(), token);
  if (json) return printJson({ ...operator, passwordLink: link });
  const lines: [string, string][] = [
    ['Person', `${operator.email}${operator.created ? '' : '   (existed already)'}`],
    ['Person id', operator.userId],
    ['Account id', operator.accountId],
    ['Roles', operator.roles.join(', ')],
  ];
  if (operator.approvalId !== null) lines.push(['More roles', waitingFor(operator.approvalId)]);
  if (link !== null) lines.push(['Password', `${link}   (good once, for a day)`]);
  printText(facts(lines));
}

async function list(options: { json?: boolean }): Promise<void> {
  const operators = await onDatabase(listOperators);
  await printList(options, {
    items: operators,
    json: { operators },
    table: {
      Email: 'email',
      Roles: ({ roles: held }) => held.filter((role) => role !== 'user').join(', '),
      Codes: ({ totpEnabled }) => (totpEnabled ? 'yes' : 'no'),
      State: ({ disabled }) => (disabled ? 'disabled' : 'live'),
    },
  });
}

/** The console's URL: as configured, otherwise that of the standalone relay of the data folder. */
async function consoleUrl(): Promise<string> {
  const { PUBLIC_CONSOLE_URL: configured } = process.env;
  const running = configured ? undefined : await findRunningRelay(dataFolder(process.env));
  const reader = new ConfigReader({ PUBLIC_CONSOLE_URL: configured ?? running?.consoleUrl });
  const { url } = reader.finish({ url: reader.get('PUBLIC_CONSOLE_URL') });
  return url.replace(/\/+$/, '');
}

/** Reads a line without echoing it. @throws OperatorError without a terminal */
async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new OperatorError(`There is no terminal for --prompt: set ${PASSWORD_VARIABLE} instead.`);
  process.stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

function checkPassword(password: string, owner: PasswordOwner): void {
  const { min, max } = PASSWORD_CHARS;
  if (password.length < min || password.length > max)
    throw new OperatorError(`A password must have ${min} to ${max} characters.`);
  const fault = passwordFault(password, owner);
  if (fault !== null) throw new OperatorError(`The password ${fault}.`);
}

function emailArgument(text: string): string {
  const { success, data } = email.safeParse(text);
  if (success) return data;
  throw new InvalidArgumentError('Give an e-mail address, such as ada@example.com.');
}

function roleArgument(text: string, before: Role[] = []): Role[] {
  const role = STAFF.find((each) => each === text);
  if (role) return [...before, role];
  throw new InvalidArgumentError(`The roles are ${STAFF.join(', ')}.`);
}
