// `npm run distributed`: runs the programs of docker-compose.yml as local processes with the same environment, on a
// local Kafka broker and PostgreSQL.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { nodePath, prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, nodeFlags, root, say } from './lib/clone.mjs';
import { exitOf, guard } from './lib/children.mjs';
import { freePorts } from './lib/free-ports.mjs';
import { NoKafka, startKafka } from './lib/kafka-broker.mjs';
import { portsOf, programs } from './lib/programs.mjs';
import { Program } from './lib/supervisor.mjs';

const HELP = `Runs gateways, billings, control planes and video workers as processes of their own over Kafka and PostgreSQL.

Usage: npm run distributed -- [--gateways N] [--billings N] [--control-planes N] [--workers N] [--data DIR]
                              [--port BASE] [--json]

  --gateways N, --billings N, --control-planes N, --workers N
                how many of each (1)
  --data DIR    where everything is kept (.data/distributed)
  --port BASE   ports from BASE on; free ones without it
  --json        print one JSON line when ready, as npm start does, with brokers, databaseUrl, baseUrls, healthUrls, pids

A program that ends is started again. DIR/pids.json always holds the processes of the moment, null for one that is
down. DIR/next-start.json, such as {"gateway-1":{"CRASH_AT":"hold.committed"}}, adds variables to the next start of a
program, once. DIR/versions.json, such as {"gateway-1":"/srv/tollgate-0.1.0"}, names for a program another clone that is built,
which it runs from at its next starts; "migrate" stands for the migration. DIR/logs has the output of each.

Environment: KAFKA_BROKERS for a broker that is there, else one is started (Maven and Java 17, or Docker);
DATABASE_URL, tollgate_owner's login, for a database that is there, else the embedded one, with ADMIN_DATABASE_URL, a
superuser's, unless the owner may create roles; SANDBOX_URL and SANDBOX_API_KEY for another upstream. All other variables reach the programs. SIGTERM and SIGINT stop everything in order.
Exit codes: 0 stopped, 1 failed.
`;

const READY_LIMIT_MS = 300_000;

const roles = ['gateway', 'worker', 'billing'];

/** The kinds of programs, by their names in `pids`. */
const kinds = {
  gateway: 'gateway',
  billing: 'billing',
  controlPlane: 'control-plane',
  videoWorker: 'video-worker',
};

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        gateways: { type: 'string', default: '1' },
        billings: { type: 'string', default: '1' },
        'control-planes': { type: 'string', default: '1' },
        workers: { type: 'string', default: '1' },
        data: { type: 'string', default: join(root, '.data', 'distributed') },
        port: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const number = (name, max) => {
      if (values[name] === undefined) return undefined;
      const value = /^\d{1,5}$/.test(values[name]) ? Number(values[name]) : NaN;
      if (!(value >= 1 && value <= max))
        throw new Error(`--${name} must be a whole number from 1 to ${max}.`);
      return value;
    };
    return {
      gateways: number('gateways', 50),
      billings: number('billings', 50),
      controlPlanes: number('control-planes', 50),
      workers: number('workers', 50),
      base: number('port', 65_000),
      dataDir: resolve(values.data),
      json: values.json,
      help: values.help,
    };
  } catch (error) {
    return giveUp(`${error.message} See npm run distributed -- --help.`);
  }
}

/** Everything that runs. `stop` ends it in the reverse order of its start. */
class Deployment {
  #undo = [];
  #stopped;
  #pids = {};
  #stopping = false;

  constructor(options) {
    this.options = options;
    this.logs = join(options.dataDir, 'logs');
    this.pidsFile = join(options.dataDir, 'pids.json');
    this.nextStartFile = join(options.dataDir, 'next-start.json');
    this.versionsFile = join(options.dataDir, 'versions.json');
  }

  async start() {
    const { dataFolder, readOrMakeSecrets, secretsKeyEnvironment } = await built(
      'libs/operations/data-folder.js',
    );
    const { lockDataFolder } = await built('libs/database/data-folder-lock.js');
    const { options } = this;
    mkdirSync(this.logs, { recursive: true });
    // Another start on the folder would kill the broker there, and write over pids.json.
    const unlock = lockDataFolder(options.dataDir, join(options.dataDir, 'distributed.lock'));
    this.#undo.push(async () => unlock());
    const folder = dataFolder({ DATA_DIR: options.dataDir });
    for (const path of [folder.files, folder.sandbox]) mkdirSync(path, { recursive: true });
    const secrets = readOrMakeSecrets(folder);
    const ports = portsOf({ ...options, free: await freePorts(portCount(options)) });
    const [kafka, database] = await Promise.all([this.#startKafka(), this.#startDatabase(folder)]);
    this.place = {
      ...database,
      brokers: kafka.brokers,
      storageDir: folder.files,
      mailDir: folder.mail,
      baseUrl: `http://127.0.0.1:${ports.instances.find(({ kind }) => kind === 'gateway').port}`,
      sandboxStateDir: folder.sandbox,
      sandboxUrl: process.env.SANDBOX_URL || `http://127.0.0.1:${ports.sandboxPort}`,
      sandboxApiKey: process.env.SANDBOX_URL ? (process.env.SANDBOX_API_KEY ?? '') : secrets.sandboxApiKey,
      urlSigningSecret: secrets.urlSigningSecret,
      secretsKey: readFileSync(secretsKeyEnvironment(folder, {}).SECRETS_KEY_FILE, 'utf8').trim(),
      consoleGrantSecret: randomBytes(32).toString('base64url'),
    };
    if (!process.env.SANDBOX_URL)
      this.#supervise({ kind: 'sandbox', name: 'sandbox', port: ports.sandboxPort });
    await this.#migrate();
    this.programs = ports.instances.map((instance) => this.#supervise(instance));
    await this.#untilReady();
    return this.#readyLine(await this.#demoKey(folder));
  }

  stop() {
    this.#stopping = true;
    this.#stopped ??= this.#stopInOrder();
    return this.#stopped;
  }

  async #stopInOrder() {
    // First the programs that clients call, then those that continue their work, then what all of them need.
    const ofKind = (kind) => (this.programs ?? []).filter((program) => program.kind === kind);
    for (const kind of ['gateway', 'control-plane', 'video-worker', 'billing']) {
      await Promise.all(ofKind(kind).map((program) => program.stop()));
    }
    for (const step of this.#undo.reverse()) await step().catch((error) => say(error.message));
  }

  async #startKafka() {
    const kafka = await startKafka({ dataDir: join(this.options.dataDir, 'kafka'), say });
    this.#undo.push(() => kafka.stop().finally(() => this.#setPid('kafka', null)));
    this.#setPid('kafka', kafka.pid ?? null);
    kafka.onExit(() => void this.#restartKafka(kafka));
    return kafka;
  }

  async #restartKafka(kafka) {
    this.#setPid('kafka', null);
    say('kafka ended; starting it again');
    while (!this.#stopping) {
      try {
        await kafka.restart();
        this.#setPid('kafka', kafka.pid ?? null);
        return;
      } catch (error) {
        say(error.message);
        await pause(500);
      }
    }
  }

  /** The database that DATABASE_URL names, or else the embedded one. Each role has its own login either way. */
  async #startDatabase(folder) {
    const { withRole } = await built('libs/database/roles.js');
    const given = process.env.DATABASE_URL;
    if (given) {
      const passwords = await this.#rolePasswords();
      this.#setPid('postgres', null);
      return {
        passwords,
        adminUrl: process.env.ADMIN_DATABASE_URL ?? '',
        databaseUrl: (role) => (role === 'owner' ? given : withRole(given, role, passwords[role])),
      };
    }
    const { startEmbeddedPostgres } = await built('libs/database/embedded-postgres.js');
    const { createLogger } = await built('libs/platform/logging.js');
    const { gateways, billings, controlPlanes, workers } = this.options;
    let lift = () => undefined;
    const server = await startEmbeddedPostgres({
      dataDir: folder.database,
      log: createLogger('distributed', process.env.LOG_LEVEL ?? 'error'),
      // Each program has its own pool. The rest is for tools.
      settings: { max_connections: 50 + 12 * (gateways + billings + workers) + 20 * controlPlanes },
      onStart: (pid) => {
        lift();
        lift = guard(pid, 'INT');
        this.#setPid('postgres', pid);
      },
    });
    this.#undo.push(async () => {
      await server.stop();
      lift();
      this.#setPid('postgres', null);
    });
    return {
      passwords: Object.fromEntries(roles.map((role) => [role, server.passwordFor(role)])),
      adminUrl: server.urlFor('admin'),
      databaseUrl: (role) => server.urlFor(role),
    };
  }

  /** Created once for a given database, since we do not know the passwords of its roles. */
  async #rolePasswords() {
    const { readPrivateJson, writePrivateJson } = await built('libs/operations/data-folder.js');
    const file = join(this.options.dataDir, 'role-passwords.json');
    const saved = readPrivateJson(file);
    if (saved) return saved;
    const made = Object.fromEntries(roles.map((role) => [role, randomBytes(24).toString('hex')]));
    writePrivateJson(file, made);
    return made;
  }

  async #migrate() {
    const { entry, environment } = programs.migrate;
    const child = spawn(nodePath(), [...nodeFlags, join(this.#rootOf('migrate'), entry)], {
      env: { ...process.env, ...environment(this.place) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if ((await exitOf(child)) !== 0) throw new Failure('The database could not be migrated, see above.');
  }

  #supervise(instance) {
    const { entry, environment } = programs[instance.kind];
    const program = new Program({
      name: instance.name,
      entry,
      root: () => this.#rootOf(instance.name),
      environment: () => ({
        ...process.env,
        ...environment(this.place, instance),
        ...this.#takeNextStart(instance.name),
      }),
      logFile: join(this.logs, `${instance.name}.log`),
      on: (event, _program, code) => this.#note(event, program, code),
    });
    Object.assign(program, { kind: instance.kind, port: instance.port, healthPort: instance.healthPort });
    if (instance.kind === 'sandbox') this.#undo.push(() => program.stop());
    program.start();
    return program;
  }

  #note(event, program, code) {
    this.#setPid(program.name, program.pid);
    if (event === 'ended' && !this.#stopping) {
      say(`${program.name} ended with code ${code}; starting it again. It last said: ${program.lastWords()}`);
    }
  }

  /** Variables for the next start of one program. Reading them removes them. */
  #takeNextStart(name) {
    try {
      const { [name]: variables, ...rest } = JSON.parse(readFileSync(this.nextStartFile, 'utf8'));
      if (variables) writeWhole(this.nextStartFile, rest);
      return variables ?? {};
    } catch {
      return {};
    }
  }

  /** The clone that a program runs from. */
  #rootOf(name) {
    if (!existsSync(this.versionsFile)) return root;
    return JSON.parse(readFileSync(this.versionsFile, 'utf8'))[name] ?? root;
  }

  #setPid(name, pid) {
    this.#pids[name] = pid;
    writeWhole(this.pidsFile, this.pids());
  }

  /** By kind, in the order of the numbers in their names. */
  pids() {
    const { gateways, billings, controlPlanes, workers } = this.options;
    const counts = {
      gateway: gateways,
      billing: billings,
      controlPlane: controlPlanes,
      videoWorker: workers,
    };
    const lists = Object.entries(kinds).map(([key, kind]) => [
      key,
      Array.from({ length: counts[key] }, (_, index) => this.#pids[`${kind}-${index + 1}`] ?? null),
    ]);
    const { kafka = null, postgres = null, sandbox = null } = this.#pids;
    return { ...Object.fromEntries(lists), kafka, postgres, sandbox };
  }

  async #untilReady() {
    const deadline = Date.now() + READY_LIMIT_MS;
    let waiting = this.programs;
    while (waiting.length > 0) {
      if (Date.now() > deadline) {
        const states = waiting.map(
          (program) => `${program.name} (${program.lastWords() || 'it said nothing'})`,
        );
        throw new Failure(`Not ready after ${READY_LIMIT_MS / 1000} s: ${states.join(', ')}.`);
      }
      const ready = await Promise.all(waiting.map((program) => isReady(program.healthPort)));
      waiting = waiting.filter((_, index) => !ready[index]);
      if (waiting.length > 0) await pause(100);
    }
  }

  async #demoKey(folder) {
    // Run by the version that created the schema.
    const version = this.#rootOf('migrate');
    const { openPool } = await built('libs/database/database.js', version);
    const { ensureDemoAccount } = await built('apps/standalone/demo-account.js', version);
    const url = this.place.databaseUrl('billing');
    const pool = openPool({ url, max: 1, applicationName: 'tollgate-distributed' });
    try {
      return (await ensureDemoAccount(pool, folder)).apiKey;
    } finally {
      await pool.end();
    }
  }

  #readyLine(apiKey) {
    const urls = (kind, port) =>
      this.programs
        .filter((program) => program.kind === kind)
        .map((program) => `http://127.0.0.1:${program[port]}`);
    const baseUrls = urls('gateway', 'port');
    const consoleUrls = urls('control-plane', 'port');
    return {
      ready: true,
      baseUrl: baseUrls[0],
      consoleUrl: consoleUrls[0],
      apiKey,
      pid: process.pid,
      brokers: this.place.brokers,
      databaseUrl: this.place.databaseUrl('owner'),
      baseUrls,
      consoleUrls,
      healthUrls: Object.fromEntries(
        Object.entries(kinds).map(([key, kind]) => [key, urls(kind, 'healthPort')]),
      ),
      sandboxUrl: this.place.sandboxUrl,
      dataDir: this.options.dataDir,
      pids: this.pids(),
    };
  }
}

/** A failure that is reported to the user in one sentence. */
class Failure extends Error {}

function built(path, from = root) {
  return import(pathToFileURL(join(from, 'dist', path)));
}

function writeWhole(file, value) {
  writeFileSync(`${file}.new`, JSON.stringify(value));
  renameSync(`${file}.new`, file);
}

function portCount({ gateways, billings, controlPlanes, workers, base }) {
  return base === undefined ? 2 * gateways + billings + 2 * controlPlanes + workers + 1 : 0;
}

async function isReady(healthPort) {
  try {
    const response = await fetch(`http://127.0.0.1:${healthPort}/health/ready`, {
      signal: AbortSignal.timeout(30_000),
    });
    return response.ok;
  } catch {
    return false;
  }
}

async function main(options) {
  const deployment = new Deployment(options);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await deployment.stop();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => void stop());
  process.stdout.on('error', () => undefined);
  try {
    const ready = await deployment.start();
    if (stopping) return;
    const { greeting } = await built('apps/standalone/texts.js');
    process.stdout.write(
      options.json ? `${JSON.stringify(ready)}\n` : `${greeting(ready)}\n${placesOf(ready)}`,
    );
  } catch (error) {
    if (stopping) return;
    stopping = true;
    await deployment.stop();
    const plain = error instanceof Failure || error instanceof NoKafka || error.name === 'OperatorError';
    giveUp(plain ? error.message : error.stack);
  }
}

function placesOf({ baseUrls, consoleUrls, brokers, databaseUrl, dataDir }) {
  return `  Gateways   ${baseUrls.join(' ')}
  Consoles   ${consoleUrls.join(' ')}
  Kafka      ${brokers.join(',')}
  Database   DATABASE_URL='${databaseUrl}'
  Data       ${dataDir} (logs/, pids.json)
`;
}

const options = readOptions();
if (options.help) {
  process.stdout.write(HELP);
} else {
  await prepare();
  await underPinnedNode();
  await main(options);
}
