import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import { answerOf, connectionOver, type EmbeddedConnection, PORT } from './embedded-connection.js';
import { STOP_TIMEOUT_MS } from './leftover-server.js';
import { findPostgres, type PostgresBinaries } from './postgres-binaries.js';
import { prepareDatabase } from './prepare-database.js';
import { databaseName, type Login, databaseRoles, databaseUrlOf } from './roles.js';
import { runAs } from './server-account.js';
import { type Passwords, readOrMakePasswords, type ServerFiles } from './server-files.js';
import { ServerFolder } from './server-folder.js';
import { lastLine } from './server-log.js';
import { builtInEnvironment, builtInSettings } from './server-settings.js';

export interface EmbeddedPostgresOptions {
  /** The folder of this server alone. */
  dataDir: string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** The version of a new data folder. By default, npm's version, or the newest. Tests use others. */
  major?: number;
  /** Settings that override the built-in ones. Only tests switch `fsync` off. */
  settings?: Record<string, string | number>;
  /** Additional environment variables of the server process. Tests give it another clock. */
  env?: Readonly<Record<string, string>>;
  /** How long it may neither answer nor recover. Tests shorten it. */
  readyMs?: number;
  /** Called with the server's process at its start and after each crash. */
  onStart?: (pid: number) => void;
}

export interface EmbeddedPostgres extends EmbeddedConnection {
  /** The server's process. It changes after a crash of the server. */
  readonly pid: number;
  /** Ends every connection and stops the server. Resolves when the process has ended. Safe to repeat. */
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 120_000;

/** A clean start takes less. A longer one is a recovery, which is logged once. */
const START_MS = 1_000;

/** How long the children of a killed server may take to release its shared memory. */
const ORPHANS_TIMEOUT_MS = 15_000;

const LONGEST_RESTART_PAUSE_MS = 5_000;

/** A longer log is renamed at the next start, and the one renamed before is deleted. */
const LOG_LIMIT_BYTES = 5_000_000;

/** The server process of one data folder: created, started, monitored, stopped. */
export class EmbeddedServer implements EmbeddedPostgres {
  private readonly folder: ServerFolder;
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
    this.folder = new ServerFolder(options.dataDir);
    this.binaries = findPostgres(this.folder.account, this.folder.majorOfData() ?? options.major);
    this.connection = connectionOver(
      this.folder.makeSocketFolder(),
      readOrMakePasswords(this.files.passwords, this.files.pgdata),
    );
    this.settings = { ...builtInSettings, ...options.settings };
  }

  private get files(): ServerFiles {
    return this.folder.files;
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
    process.on('exit', this.endAtExit);
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
    // A restart in progress may have launched another server meanwhile.
    await this.restarting;
    await this.endChild();
    process.off('exit', this.endAtExit);
    rmSync(this.files.record, { force: true });
    rmSync(this.socketDir, { recursive: true, force: true });
    this.unlock();
  }

  /** A program that exits without stopping its server would leave it running on the folder, where nobody expects it. */
  private readonly endAtExit = (): void => {
    if (this.child && isAlive(this.child)) this.child.kill('SIGINT');
  };

  private async endChild(): Promise<void> {
    const { child } = this;
    if (!child || !isAlive(child)) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    const impatience = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(impatience);
  }

  private makeCluster(): void {
    const { binaries, socketDir, settings } = this;
    const password = this.passwordFor('admin');
    this.folder.makeCluster({ binaries, socketDir, password, fsync: settings['fsync'] });
  }

  /** The children of a killed server keep its shared memory for a moment. The next server waits for them. */
  private async launchPastOrphans(): Promise<void> {
    const deadline = performance.now() + ORPHANS_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.launch();
      } catch (error) {
        const orphans = /pre-existing shared memory block|lock file ".*" already exists/.test(
          (error as Error).message,
        );
        if (!orphans || performance.now() > deadline) throw error;
        await pause(100);
      }
    }
  }

  private async launch(): Promise<void> {
    this.putLogAside();
    const child = this.spawn();
    child.on('error', (error) => this.options.log.error({ err: error }, 'the database server did not start'));
    this.child = child;
    this.writeRecord(child.pid);
    await this.untilReady(child).catch(async (error: unknown) => {
      // The next one could not start beside it.
      await this.endChild();
      throw error;
    });
    child.once('exit', () => this.restartAfterCrash());
    if (!isAlive(child)) throw new OperatorError(this.whyItStopped());
    this.options.onStart?.(this.pid);
  }

  private spawn(): ChildProcess {
    const log = openSync(this.files.log, 'a', 0o600);
    const folder = this.folder.reach(this.files.pgdata);
    const settings = Object.entries({
      ...this.settings,
      unix_socket_directories: this.socketDir,
      port: PORT,
    });
    const child = spawn(
      join(this.binaries.bin, 'postgres'),
      ['-D', folder.path, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      // A separate process group: the program handles Ctrl-C in the terminal, and stops the server last.
      {
        ...runAs(this.folder.account),
        env: { ...builtInEnvironment, ...process.env, ...this.options.env },
        stdio: ['ignore', log, log, folder.fd],
        detached: true,
      },
    );
    closeSync(log);
    closeSync(folder.fd);
    return child;
  }

  /** Renamed into place, so that a tool sees the old record or the new one while the server restarts. */
  private writeRecord(pid: number | undefined): void {
    const draft = `${this.files.record}.new`;
    writeFileSync(draft, JSON.stringify({ socketDir: this.socketDir, pid }), { mode: 0o600 });
    renameSync(draft, this.files.record);
  }

  private putLogAside(): void {
    const size = statSync(this.files.log, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LOG_LIMIT_BYTES) renameSync(this.files.log, `${this.files.log}.1`);
  }

  /** Recovery after a crash may take any time. While it lasts, the server says so. */
  private async untilReady(child: ChildProcess): Promise<void> {
    const { readyMs = READY_TIMEOUT_MS } = this.options;
    let deadline = performance.now() + readyMs;
    let reportAt = performance.now() + START_MS;
    while (performance.now() < deadline) {
      if (!isAlive(child)) throw new OperatorError(this.whyItStopped());
      const answer = await answerOf(databaseUrlOf(this.connection.urlFor('admin'), 'postgres'));
      if (answer === 'ready') return;
      if (answer === 'recovering') {
        if (performance.now() >= reportAt) {
          this.options.log.info({ serverLog: this.files.log }, 'waiting while the database server recovers');
          reportAt = Infinity;
        }
        deadline = performance.now() + readyMs;
      }
      await pause(15);
    }
    throw new OperatorError(`The database did not become ready in ${readyMs / 1000} s.`);
  }

  private whyItStopped(): string {
    const log = existsSync(this.files.log) ? readFileSync(this.files.log, 'utf8') : '';
    return `The database server stopped at its start: ${lastLine(log)} (${this.files.log})`;
  }

  private async prepare(): Promise<void> {
    const adminUrl = databaseUrlOf(this.connection.urlFor('admin'), 'postgres');
    const passwords = Object.fromEntries(
      databaseRoles.map((role) => [role, this.passwordFor(role)]),
    ) as Passwords;
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
