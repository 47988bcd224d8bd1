// The page docs/configuration.md, from the settings that the programs declare and read.

const DISTRIBUTED = ['gateway', 'billing', 'control plane', 'worker'];

/** What standalone sets by itself. */
const SET_BY_STANDALONE = new Set([
  'CHAIN_SIGNING_KEY',
  'CONSOLE_GRANT_SECRET',
  'DATABASE_URL',
  'KAFKA_BROKERS',
  'MAIL_DIR',
  'PUBLIC_CONSOLE_URL',
  'SECRETS_KEY',
  'STORAGE_DIR',
  'URL_SIGNING_SECRET',
]);

/**
 * What each program reads, by its name on the page.
 * @param {(alias: string) => Promise<object>} load imports a module of the project by its alias
 */
export async function programSettings(load) {
  const { settingsOf } = await load('#platform/config.js');
  const { readShared } = await load('#operations/distributed-program.js');
  const readers = {
    gateway: (await load('#apps/gateway/gateway.config.js')).readGatewayProgram,
    billing: (await load('#apps/billing/billing.config.js')).readBillingProgram,
    'control plane': (await load('#apps/control-plane/control-plane.config.js')).readControlPlaneProgram,
    worker: (await load('#apps/video-worker/video-worker.config.js')).readVideoWorkerProgram,
    migrate: (await load('#operations/database.setup.js')).readDatabaseSetup,
    backup: (await load('#operations/backup/installation.js')).readPassphrase,
    sandbox: (await load('#apps/sandbox-upstream/sandbox.config.js')).readSandboxProgram,
    standalone: (await load('#apps/standalone/standalone.config.js')).readStandaloneProgram,
  };
  return Object.fromEntries(
    Object.entries(readers).map(([name, read]) => {
      const all = DISTRIBUTED.includes(name) ? (reader) => [readShared(reader), read(reader)] : read;
      return [name, settingsOf(all)];
    }),
  );
}

/** The whole page. */
export async function configurationPage(load) {
  const { SECTIONS } = await load('#platform/settings/settings.js');
  const programs = await programSettings(load);
  const sections = Object.entries(SECTIONS).map(
    ([title, settings]) =>
      `## ${title}\n\n${tableOf(Object.entries(settings).map(([name, setting]) => rowOf(name, setting, programs)))}`,
  );
  return `${INTRODUCTION}\n${sections.join('\n\n')}\n`;
}

const INTRODUCTION = `# Configuration

<!-- Written by \`npm run reference\` from libs/platform/settings. -->

Programs read environment variables once, at startup. If a value is invalid, the program stops and names the variable and the rule it
breaks. Run any program with \`--help\` to list its variables.

- Durations are in seconds, or in days where the name says so, and may have decimals.
- Standalone (\`npm start\`) reads the variables of all programs, and sets those marked * itself.
- To read a secret, or a URL with a login, from a file, set \`NAME_FILE\` to its path instead of \`NAME\`.
- The password of a URL such as \`DATABASE_URL\` can be set separately in \`DATABASE_PASSWORD\`, where it may contain any character.
- In the \`program\` column, \`all\` means gateway, billing, control plane and video worker. \`migrate\` is the one-shot job
  \`apps/control-plane/migrate.ts\`. \`backup\` means \`tollgate backup\` and \`tollgate restore\`. Other \`tollgate\` commands read \`DATA_DIR\`
  and the control plane's variables that they need.
- Staff limits are stored when the control plane starts, and the command line uses the stored values.
`;

function rowOf(name, { about, fallback, show }, programs) {
  const own = fallback === undefined ? undefined : show(fallback);
  return [
    `\`${name}\`${SET_BY_STANDALONE.has(name) ? ' *' : ''}`,
    whoReads(name, programs),
    defaultOf(name, own, programs),
    about,
  ];
}

/** Standalone reads what its programs read. Only what nothing else reads is its own. */
function whoReads(name, programs) {
  const readers = Object.keys(programs).filter((program) =>
    programs[program].some((each) => each.name === name),
  );
  const others = readers.filter((program) => program !== 'standalone');
  if (others.length === 0) return readers.length > 0 ? 'standalone' : 'all';
  const isAll = DISTRIBUTED.every((program) => others.includes(program));
  return isAll ? 'all' : others.join(', ');
}

function defaultOf(name, own, programs) {
  const different = Object.entries(programs).flatMap(([program, settings]) => {
    const asked = settings.find((each) => each.name === name);
    return asked?.fallback === undefined || asked.fallback === own ? [] : [[program, asked.fallback]];
  });
  const isComputed = own === undefined && different.length > 0;
  if (isComputed && different.every(([program]) => program !== 'sandbox')) return 'see meaning';
  return [own ?? '-', ...different.map(([program, value]) => `${program}: ${value}`)].join('; ');
}

function tableOf(rows) {
  const lines = [['variable', 'program', 'default', 'meaning'], ['---', '---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
