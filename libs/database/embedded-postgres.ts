import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { OperatorError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import { identifyProcess, isRunning, lockDataFolder } from './data-folder-lock.js';
import { findPostgres, type PostgresBinaries } from './postgres-binaries.js';
import { prepareDatabase } from './prepare-database.js';
import { connectionUrl, databaseName, type Login, roleName, roles, withDatabase } from './roles.js';
import { canEnter, giveTo, makePrivateFolder, runAs, serverAccountFor } from './server-account.js';

export interface EmbeddedPostgresOptions {
  /** The folder that belongs to this server alone. */
  dataDir: string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Server settings over the built-in ones; tests switch `fsync` off, nobody else does. */
  settings?: Record<string, string | number>;
  /** Variables of the server process beside this one's own; tests give it another clock. */
  env?: Readonly<Record<string, string>>;
  /** Told the server's process at its start and after each crash. */
  onStart?: (pid: number) => void;
}

export interface EmbeddedConnection {
  /** The private folder of the Unix socket; there is no TCP. */
  socketDir: string;
  port: number;
  ownerUrl: string;
  /** The connection URL of a role, its password in it. */
  urlFor(role: Login): string;
  passwordFor(role: Login): string;
}

export interface EmbeddedPostgres extends EmbeddedConnection {
  /** The server's process, a new one after a crash of the server. */
  readonly pid: number;
  /** Ends every connection and stops the server; it resolves when the process is gone. Safe to repeat. */
  stop(): Promise<void>;
}

/** Only the name of the socket file depends on it. */
const PORT = 5432;

/** sockaddr_un holds 104 bytes on macOS, 108 on Linux, with the closing zero. */
const LONGEST_SOCKET_PATH = 103;

/** Recovery of a full write-ahead log after a crash may take a while on a slow disk. */
const READY_TIMEOUT_MS = 120_000;

/** How long a fast stop may take before the server is told to drop everything (it recovers at its next start). */
const STOP_TIMEOUT_MS = 30_000;

/** How long the children of a killed server may take to let go of its shared memory. */
const ORPHANS_TIMEOUT_MS = 15_000;

const LONGEST_RESTART_PAUSE_MS = 5_000;

/** A log beyond this size is put aside at the next start; the one before that goes. */
const LOG_LIMIT_BYTES = 5_000_000;

const builtInSettings: Record<string, string | number> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: 100,
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  random_page_cost: 1.1,
  jit: 'off',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_compression: 'on',
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  checkpoint_timeout: '10min',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/**
 * Starts a real PostgreSQL server for this process on a data folder, made at the first start and reused afterwards.
 * It stops a server that a killed predecessor left on the folder, and restarts its own when that crashes.
 * @throws OperatorError, one sentence, when the folder is in use, unwritable, of another version, or no server runs.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const files = filesIn(dataDir);
  const unlock = takeFolder(dataDir, files.lock);
  try {
    await stopLeftover(files.pgdata, options.log);
    const server = new EmbeddedServer({ ...options, dataDir }, unlock);
    await server.start();
    return server;
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Finds the server that another process runs on this data folder, for a tool that comes beside it.
 * @returns undefined when none runs.
 */
export function readEmbeddedConnection(dataDir: string): EmbeddedConnection | undefined {
  const files = filesIn(resolve(dataDir));
  if (leftoverPid(files.pgdata) === undefined) return undefined;
  try {
    const { socketDir } = JSON.parse(readFileSync(files.record, 'utf8')) as { socketDir: string };
    return connectionOver(socketDir, readPasswords(files.passwords));
  } catch {
    return undefined;
  }
}

function filesIn(dataDir: string) {
  return {
    pgdata: join(dataDir, 'pgdata'),
    socket: join(dataDir, 'socket'),
    passwords: join(dataDir, 'passwords.json'),
    record: join(dataDir, 'server.json'),
    lock: join(dataDir, 'owner.lock'),
    log: join(dataDir, 'server.log'),
  };
}

type Passwords = Record<Login, string>;

const logins: readonly Login[] = ['admin', ...roles];

function connectionOver(socketDir: string, passwords: Passwords): EmbeddedConnection {
  const address = { host: socketDir, port: PORT, database: databaseName };
  const urlFor = (role: Login) => connectionUrl(address, role, passwords[role]);
  return { socketDir, port: PORT, ownerUrl: urlFor('owner'), urlFor, passwordFor: (role) => passwords[role] };
}

function takeFolder(dataDir: string, lockFile: string): () => void {
  try {
    mkdirSync(dataDir, { recursive: true });
    return lockDataFolder(dataDir, lockFile);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The data folder ${dataDir} cannot be written: ${(error as Error).message}.`);
  }
}

function readPasswords(file: string): Passwords {
  return JSON.parse(readFileSync(file, 'utf8')) as Passwords;
}

function readOrMakePasswords(file: string, pgdata: string): Passwords {
  const known: Partial<Passwords> = existsSync(file) ? readPasswords(file) : {};
  if (existsSync(pgdata) && !known.owner) {
    throw new OperatorError(`The passwords of the database, ${file}, are gone: put the file back.`);
  }
  // An installation of an earlier version has none for the admin.
  const missing = logins.filter((login) => known[login] === undefined);
  if (missing.length === 0) return known as Passwords;
  const made = Object.fromEntries(missing.map((login) => [login, randomBytes(24).toString('hex')]));
  const all = { ...known, ...made } as Passwords;
  const draft = `${file}.new`;
  writeFileSync(draft, JSON.stringify(all), { mode: 0o600, flush: true });
  renameSync(draft, file);
  return all;
}

/** The server that runs on this folder, by its own pid file, if that process really is a server in this folder. */
function leftoverPid(pgdata: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(pgdata, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 1 && worksIn(pid, pgdata) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function worksIn(pid: number, pgdata: string): boolean {
  if (process.platform === 'linux') {
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    return name === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(pgdata);
  }
  const command = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  return command.includes('postgres') && command.includes(pgdata);
}

/**
 * After a reboot the number in the pid file may be a stranger's, and the server would take it for a predecessor. It
 * ignores its parent's number there, and still checks the rest of the file, which names its shared memory.
 */
function disownStranger(pgdata: string): void {
  const file = join(pgdata, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [pid, ...rest] = readFileSync(file, 'utf8').split('\n');
  if (identifyProcess(Number(pid))) writeFileSync(file, [process.pid, ...rest].join('\n'));
}

async function stopLeftover(pgdata: string, log: EmbeddedPostgresOptions['log']): Promise<void> {
  const pid = leftoverPid(pgdata);
  const identity = pid === undefined ? undefined : identifyProcess(pid);
  if (!identity) return disownStranger(pgdata);
  log.warn({ pid }, 'stopping the database server that an earlier run left behind');
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(identity.pid, signal);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (isRunning(identity) && Date.now() < deadline) await pause(20);
    if (!isRunning(identity)) return;
  }
  throw new OperatorError(
    `The database server of an earlier run, process ${identity.pid}, does not stop: end it by hand.`,
  );
}

/** The server process of one data folder: made, started, watched, stopped. */
class EmbeddedServer implements EmbeddedPostgres {
  private readonly files: ReturnType<typeof filesIn>;
  private readonly account: ReturnType<typeof serverAccountFor>;
  private readonly connection: EmbeddedConnection;
  private readonly binaries: PostgresBinaries;
  private readonly settings: Record<string, string | number>;
  private child: ChildProcess | undefined;
  private stopped: Promise<void> | undefined;
  private restarting: Promise<void> | undefined;

  constructor(
    private readonly options: EmbeddedPostgresOptions,
    private readonly unlock: () => void,
  ) {
    this.files = filesIn(options.dataDir);
    this.account = serverAccountFor(this.files.pgdata);
    this.refuseForeignFolder();
    this.binaries = findPostgres(this.account, this.majorOfData());
    this.connection = connectionOver(
      this.makeSocketFolder(),
      readOrMakePasswords(this.files.passwords, this.files.pgdata),
    );
    this.settings = { ...builtInSettings, ...options.settings };
  }

  get socketDir() {
    return this.connection.socketDir;
  }
  get port() {
    return this.connection.port;
  }
  get ownerUrl() {
    return this.connection.ownerUrl;
  }
  get pid() {
    return this.child?.pid ?? 0;
  }
  urlFor = (role: Login) => this.connection.urlFor(role);
  passwordFor = (role: Login) => this.connection.passwordFor(role);

  async start(): Promise<void> {
    try {
      if (!existsSync(this.files.pgdata)) this.makeCluster();
      await this.launchPastOrphans();
      await this.prepare();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    this.stopped ??= this.stopOnce();
    return this.stopped;
  }

  private async stopOnce(): Promise<void> {
    await this.endChild();
    // A restart that was under way may have launched another server meanwhile.
    await this.restarting;
    await this.endChild();
    rmSync(this.files.record, { force: true });
    rmSync(this.socketDir, { recursive: true, force: true });
    this.unlock();
  }

  private async endChild(): Promise<void> {
    const { child } = this;
    if (!child || !isAlive(child)) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    const impatience = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(impatience);
  }

  private majorOfData(): number | undefined {
    const file = join(this.files.pgdata, 'PG_VERSION');
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  }

  private refuseForeignFolder(): void {
    const self = process.getuid?.();
    const owner = statSync(this.files.pgdata, { throwIfNoEntry: false })?.uid ?? self;
    if (self !== 0 && owner !== self) {
      throw new OperatorError(
        `The data folder ${this.options.dataDir} belongs to another user (uid ${owner}): run as that user or root, or choose another DATA_DIR.`,
      );
    }
  }

  /** Beside the data where the path is short enough and open to the server's account, else a private temporary one. */
  private makeSocketFolder(): string {
    const { account, files } = this;
    const short = Buffer.byteLength(`${files.socket}/.s.PGSQL.${PORT}`) <= LONGEST_SOCKET_PATH;
    if (short) {
      makePrivateFolder(files.socket, account);
      if (canEnter(files.socket, account)) return files.socket;
    }
    this.removeEarlierSocketFolder();
    for (const parent of new Set([tmpdir(), '/tmp'])) {
      const folder = mkdtempSync(join(parent, 'tollgate-'));
      chmodSync(folder, 0o700);
      giveTo(folder, account);
      const fits = Buffer.byteLength(`${folder}/.s.PGSQL.${PORT}`) <= LONGEST_SOCKET_PATH;
      if (fits && canEnter(folder, account)) return folder;
      rmSync(folder, { recursive: true });
    }
    throw new OperatorError('No temporary folder can hold the socket of the database: check TMPDIR.');
  }

  /** A killed predecessor could not remove its temporary socket folder; only what it recorded is touched. */
  private removeEarlierSocketFolder(): void {
    try {
      const { socketDir } = JSON.parse(readFileSync(this.files.record, 'utf8')) as { socketDir: string };
      if (/^tollgate-\w{6}$/.test(socketDir.split('/').at(-1) ?? '')) rmSync(socketDir, { recursive: true });
    } catch {
      // There is no record, or the folder is gone already.
    }
  }

  /** Made under another name first, so that an interrupted first start leaves nothing that looks whole. */
  private makeCluster(): void {
    const draft = `${this.files.pgdata}.new`;
    rmSync(draft, { recursive: true, force: true });
    makePrivateFolder(draft, this.account);
    const passwordFile = join(this.socketDir, 'admin-password');
    writeFileSync(passwordFile, this.passwordFor('admin'), { mode: 0o600 });
    giveTo(passwordFile, this.account);
    const folder = this.reach(draft);
    const noSync = this.settings['fsync'] === 'off' ? ['--no-sync'] : [];
    const { status, stderr, error } = spawnSync(
      join(this.binaries.bin, 'initdb'),
      [
        '-D',
        folder.path,
        '-U',
        roleName('admin'),
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-instructions',
        ...noSync,
      ],
      { ...runAs(this.account), stdio: ['ignore', 'ignore', 'pipe', folder.fd], encoding: 'utf8' },
    );
    closeSync(folder.fd);
    rmSync(passwordFile);
    if (status !== 0) {
      throw new OperatorError(
        `A database could not be made in ${this.options.dataDir}: ${error?.message ?? lastLine(stderr)}`,
      );
    }
    renameSync(draft, this.files.pgdata);
  }

  /**
   * A path by which the server's account reaches a folder. When a parent is closed to it, the open folder itself is
   * handed over as descriptor 3, and /proc leads there without passing the parents.
   */
  private reach(folder: string): { path: string; fd: number } {
    const fd = openSync(folder, 'r');
    if (canEnter(folder, this.account)) return { path: folder, fd };
    if (process.platform === 'linux') return { path: '/proc/self/fd/3', fd };
    closeSync(fd);
    throw new OperatorError(
      `The user who runs the database cannot enter ${folder}: choose another DATA_DIR.`,
    );
  }

  /** The children of a killed server hold its shared memory for a moment; the next server waits for them. */
  private async launchPastOrphans(): Promise<void> {
    const deadline = Date.now() + ORPHANS_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.launch();
      } catch (error) {
        const orphans = /pre-existing shared memory block|lock file ".*" already exists/.test(
          (error as Error).message,
        );
        if (!orphans || Date.now() > deadline) throw error;
        await pause(100);
      }
    }
  }

  private async launch(): Promise<void> {
    this.putLogAside();
    const log = openSync(this.files.log, 'a', 0o600);
    const folder = this.reach(this.files.pgdata);
    const settings = Object.entries({
      ...this.settings,
      unix_socket_directories: this.socketDir,
      port: PORT,
    });
    const child = spawn(
      join(this.binaries.bin, 'postgres'),
      ['-D', folder.path, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      // A group of its own: a Ctrl-C at the terminal is the program's to answer, and it stops the server last.
      {
        ...runAs(this.account),
        env: { ...process.env, ...this.options.env },
        stdio: ['ignore', log, log, folder.fd],
        detached: true,
      },
    );
    closeSync(log);
    closeSync(folder.fd);
    child.on('error', (error) => this.options.log.error({ err: error }, 'the database server did not start'));
    this.child = child;
    this.writeRecord(child.pid);
    await this.untilReady(child);
    child.once('exit', () => this.restartAfterCrash());
    if (!isAlive(child)) throw new OperatorError(this.whyItStopped());
    this.options.onStart?.(this.pid);
  }

  /** Renamed into place: a tool that looks while the server is started again finds the old record or the new one. */
  private writeRecord(pid: number | undefined): void {
    const draft = `${this.files.record}.new`;
    writeFileSync(draft, JSON.stringify({ socketDir: this.socketDir, pid }), { mode: 0o600 });
    renameSync(draft, this.files.record);
  }

  private putLogAside(): void {
    const size = statSync(this.files.log, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LOG_LIMIT_BYTES) renameSync(this.files.log, `${this.files.log}.1`);
  }

  private async untilReady(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (Date.now() < deadline) {
      if (!isAlive(child)) throw new OperatorError(this.whyItStopped());
      if (await this.answers()) return;
      await pause(15);
    }
    throw new OperatorError(`The database did not become ready in ${READY_TIMEOUT_MS / 1000} s.`);
  }

  private async answers(): Promise<boolean> {
    const client = new pg.Client({
      connectionString: withDatabase(this.connection.urlFor('admin'), 'postgres'),
    });
    // Without a listener an error of a connection under way would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      // It checks passwords: whether they are right is seen when it is prepared.
      if (code === '28P01') return true;
      if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(code)) return false;
      if (/Connection terminated/.test((error as Error).message)) return false;
      throw new OperatorError(`The database refuses its owner: ${(error as Error).message}.`);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private whyItStopped(): string {
    const log = existsSync(this.files.log) ? readFileSync(this.files.log, 'utf8') : '';
    return `The database server stopped at its start: ${lastLine(log)} (${this.files.log})`;
  }

  private async prepare(): Promise<void> {
    const adminUrl = withDatabase(this.connection.urlFor('admin'), 'postgres');
    const passwords = Object.fromEntries(roles.map((role) => [role, this.passwordFor(role)])) as Passwords;
    try {
      await prepareDatabase({ adminUrl, database: databaseName, passwords });
    } catch (error) {
      if ((error as { code?: string }).code !== '28P01') throw error;
      throw new OperatorError(`The database refuses its owner: ${(error as Error).message}.`);
    }
  }

  private restartAfterCrash(): void {
    if (this.stopped) return;
    this.restarting = this.restart().finally(() => (this.restarting = undefined));
  }

  private async restart(): Promise<void> {
    this.options.log.error({ dataDir: this.options.dataDir }, 'the database server ended by itself');
    for (
      let pauseMs = 100;
      this.stopped === undefined;
      pauseMs = Math.min(pauseMs * 2, LONGEST_RESTART_PAUSE_MS)
    ) {
      try {
        await this.launchPastOrphans();
        this.options.log.info({ pid: this.pid }, 'the database server runs again');
        return;
      } catch (error) {
        this.options.log.error({ err: error }, 'the database server could not be started again');
        await pause(pauseMs);
      }
    }
  }
}

function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** What the server said last that is worth a sentence: its FATAL line rather than the hint after it. */
function lastLine(text: string): string {
  const lines = text.trim().split('\n').slice(-8);
  const fatal = lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? '';
  const hint = lines.slice(lines.indexOf(fatal) + 1).filter((line) => /HINT|DETAIL/.test(line));
  return [fatal, ...hint].join(' ').trim();
}
