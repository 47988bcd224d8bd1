import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { Books, counterAt } from '../support/books.js';
import { until } from '../support/eventually.js';
import { type Environment, type StandaloneProcess, startStandalone } from '../support/programs.js';
import { freePort } from '../support/free-port.js';
import { cutConnections, silence } from './database-faults.js';
import type { Strike } from './schedule.js';
import { POINT_LIMIT_MS, type Site } from './site.js';

/** Everything in one process, with its database server. */
export class StandaloneSite implements Site {
  readonly kinds = ['relay', 'postgres', 'connections', 'silence'] as const;
  private relay!: StandaloneProcess;
  private openBooks: Books | undefined;
  private written = '';

  private constructor(
    private readonly dataDir: string,
    private readonly env: Environment,
    private readonly healthPort: number,
  ) {}

  static async start(env: Environment): Promise<StandaloneSite> {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
    const site = new StandaloneSite(dataDir, env, await freePort());
    try {
      await site.launch();
      return site;
    } catch (error) {
      rmSync(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  get books(): Books {
    if (!this.openBooks) throw new Error('the relay does not run');
    return this.openBooks;
  }

  get sandboxUrl(): undefined {
    return undefined;
  }

  url(): string {
    return this.relay.baseUrl;
  }

  async strike({ kind, point }: Strike): Promise<boolean> {
    if (kind === 'postgres' || kind === 'connections' || kind === 'silence') {
      await this.strikeDatabase(kind);
      return true;
    }
    if (point === null) await this.relay.end('SIGKILL');
    else if (!(await this.diesAt(point))) return false;
    await this.launch();
    return true;
  }

  private async strikeDatabase(kind: 'postgres' | 'connections' | 'silence'): Promise<void> {
    const pid = this.databasePid();
    if (kind === 'connections') return cutConnections(pid);
    if (kind === 'silence') return silence(pid);
    process.kill(pid, 'SIGKILL');
    await until('another server', async () => this.databasePid() !== pid);
  }

  async atRest(): Promise<void> {
    await this.books.atRest().catch((error: Error) => {
      throw new Error(`${error.message}\n${this.logs()}`);
    });
  }

  repairs(): Promise<number> {
    return counterAt(this.healthPort, 'tollgate_repairs_total');
  }

  logs(): string {
    return `${this.written}${this.relay.stderr()}`.slice(-4_000);
  }

  async stop(): Promise<void> {
    await this.openBooks?.close();
    await this.relay.end('SIGTERM');
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private async launch(): Promise<void> {
    this.written = (this.relay?.stderr() ?? '').slice(-2_000);
    this.relay = await startStandalone({
      LOG_LEVEL: 'warn',
      ...this.env,
      DATA_DIR: this.dataDir,
      HEALTH_PORT: String(this.healthPort),
      CRASH_FILE: this.crashFile,
    });
    const connection = readEmbeddedConnection(join(this.dataDir, 'database'));
    if (!connection) throw new Error(`no database runs in ${this.dataDir}`);
    const before = this.openBooks;
    this.openBooks = Books.open(connection.urlFor('owner'));
    await before?.close();
  }

  private async diesAt(point: string): Promise<boolean> {
    writeFileSync(this.crashFile, point);
    const gone = this.relay.gone.then(() => true);
    if (await Promise.race([gone, pause(POINT_LIMIT_MS, false)])) return true;
    try {
      rmSync(this.crashFile);
      return false;
    } catch {
      // The process that removed the file is about to die.
      return gone;
    }
  }

  private get crashFile(): string {
    return join(this.dataDir, 'crash');
  }

  private databasePid(): number {
    const file = join(this.dataDir, 'database', 'server.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid;
  }
}
