import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import type { Login } from '#database/roles.js';
import { Books, counterAt } from '../support/books.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import type { Undo } from '../support/outages/undo.js';
import { type Environment, type StandaloneProcess, startStandalone } from '../support/programs.js';
import type { Kind, Strike } from './schedule.js';
import { POINT_LIMIT_MS, type Site } from './site.js';
import { type Fault, lasting, Surroundings } from './surroundings.js';

/**
 * Makes the database keep the machine's clock: it inherits the relay's environment, which would give it the other one.
 */
const OWN_CLOCK = { NODE_OPTIONS: '--import=data:text/javascript,delete%20process.env.LD_PRELOAD' };

/** Everything in one process, with its own database server. */
export class StandaloneSite implements Site {
  readonly missing: ReadonlyMap<Kind, string>;
  private readonly dataDir: string;
  private readonly faults: Partial<Record<Kind, Fault>>;
  private relay!: StandaloneProcess;
  private openBooks: Books | undefined;
  private written = '';

  private constructor(
    private readonly surroundings: Surroundings,
    private readonly env: Environment,
    private readonly healthPort: number,
  ) {
    this.dataDir = mkdtempSync(join(surroundings.folder, 'tollgate-soak-'));
    const socketOnly = 'everything in one process reaches its database by a socket file';
    this.missing = new Map([...surroundings.missing, ['postgres-slow', socketOnly]]);
    this.faults = this.everyFault();
  }

  static async start(env: Environment, undo: Undo): Promise<StandaloneSite> {
    const surroundings = await Surroundings.open(undo, []);
    const site = new StandaloneSite(surroundings, env, await freePort());
    undo.add(async () => rmSync(site.dataDir, { recursive: true, force: true }));
    await undo.during(
      () => site.launch(),
      () => site.stop(),
    );
    return site;
  }

  get books(): Books {
    if (!this.openBooks) throw new Error('the relay does not run');
    return this.openBooks;
  }

  get sandboxUrl(): string {
    return this.surroundings.sandboxUrl;
  }

  get kinds(): readonly Kind[] {
    return Object.keys(this.faults) as Kind[];
  }

  url(): string {
    return this.relay.baseUrl;
  }

  async strike(strike: Strike): Promise<number | null> {
    return strike.point === null ? this.faults[strike.kind]!(strike) : this.diesAt(strike.point);
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

  private async stop(): Promise<void> {
    await this.openBooks?.close();
    await this.relay.end('SIGTERM');
  }

  private everyFault(): Partial<Record<Kind, Fault>> {
    const server = { urlFor: (role: Login) => this.connection().urlFor(role) };
    const healthUrls = [`http://127.0.0.1:${this.healthPort}`];
    return {
      relay: () => this.kill(),
      postgres: () => this.killDatabase(),
      'postgres-cut': async () => {
        signal(childrenOf(this.databasePid(), /^postgres: tollgate_/), 'SIGTERM');
        return performance.now();
      },
      'postgres-silent': this.silence(),
      ...this.surroundings.faults({ server, ways: [], healthUrls }),
    };
  }

  private async kill(): Promise<number> {
    const killedAt = performance.now();
    await this.relay.end('SIGKILL');
    await this.launch();
    return killedAt;
  }

  private async killDatabase(): Promise<number> {
    const pid = this.databasePid();
    process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    await until('another server', async () => this.databasePid() !== pid);
    return killedAt;
  }

  /** Makes the server accept connections but answer nothing. */
  private silence(): Fault {
    let stopped: number[] = [];
    return lasting(
      async () => {
        const pid = this.databasePid();
        stopped = [pid, ...childrenOf(pid, /^postgres: /)];
        signal(stopped, 'SIGSTOP');
      },
      async () => signal(stopped, 'SIGCONT'),
    );
  }

  private async diesAt(point: string): Promise<number | null> {
    writeFileSync(this.crashFile, point);
    if (!(await this.isReached())) return null;
    const diedAt = performance.now();
    await this.launch();
    return diedAt;
  }

  private async isReached(): Promise<boolean> {
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

  private async launch(): Promise<void> {
    this.written = (this.relay?.stderr() ?? '').slice(-2_000);
    const { env, under } = this.surroundings;
    this.relay = await startStandalone(
      {
        LOG_LEVEL: 'warn',
        ...this.env,
        ...env,
        ...OWN_CLOCK,
        DATA_DIR: this.dataDir,
        HEALTH_PORT: String(this.healthPort),
        CRASH_FILE: this.crashFile,
      },
      under,
    );
    const before = this.openBooks;
    this.openBooks = Books.open(this.connection().urlFor('owner'));
    await before?.close();
  }

  private connection() {
    const connection = readEmbeddedConnection(join(this.dataDir, 'database'));
    if (!connection) throw new Error(`no database runs in ${this.dataDir}`);
    return connection;
  }

  private get crashFile(): string {
    return join(this.dataDir, 'crash');
  }

  private databasePid(): number {
    const file = join(this.dataDir, 'database', 'server.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid;
  }
}

function childrenOf(pid: number, title: RegExp): number[] {
  const lines = execFileSync('ps', ['--ppid', String(pid), '-o', 'pid=,args='], { encoding: 'utf8' });
  return lines
    .split('\n')
    .map((line) => /^\s*(\d+) (.*)$/.exec(line))
    .flatMap((match) => (match && title.test(match[2]!) ? [Number(match[1])] : []));
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
