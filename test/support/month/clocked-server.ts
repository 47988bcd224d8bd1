import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { migrate } from '#database/migrations.js';
import { type DatabaseRole, databaseUrlOf } from '#database/roles.js';
import { createLogger } from '#platform/logging.js';
import { letOwnerForge } from '../database.js';
import { until } from '../eventually.js';

/** How much faster than our clock the server's runs. */
const SPEED = 10;

/**
 * Under a faked clock, a signal during a wait would show the server the machine's real time. By that time, all its
 * timeouts would be long past, so it would interrupt work that has just begun.
 */
const NO_TIMEOUTS = 'SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0';

/** Loses its data if the machine crashes, but not if its processes do. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_wal_size: '2GB', max_connections: 100 };

/**
 * The library that gives a process another clock.
 * @throws Error if it is not installed
 */
export function findFaketime(): string {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
  if (library) return library;
  throw new Error('There is no libfaketime here: install the package faketime.');
}

/**
 * A PostgreSQL server whose clock the test sets at each start. If killed, it restarts by itself, and its clock is back
 * at the time of the last start.
 */
export class ClockedServer {
  /** `MONTH_LOG=warn` prints the programs' logs. */
  readonly log = createLogger('month', process.env['MONTH_LOG'] ?? 'silent');
  private readonly dataDir = mkdtempSync(join(tmpdir(), 'tollgate-month-'));
  private server: EmbeddedPostgres | undefined;
  private pools: pg.Pool[] = [];

  constructor(private readonly faketime: string) {
    chmodSync(this.dataDir, 0o755);
  }

  /**
   * Starts or restarts the server with its clock at a time such as `2026-10-01 08:00:00` UTC. From there it runs
   * `speed` times as fast as ours.
   */
  async startAt(time: string, speed = SPEED): Promise<void> {
    await this.stop();
    this.server = await startEmbeddedPostgres({
      dataDir: this.dataDir,
      log: this.log,
      settings: SETTINGS,
      env: {
        LD_PRELOAD: this.faketime,
        FAKETIME: `@${time} x${speed}`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        TZ: 'UTC',
      },
    });
  }

  async migrate(): Promise<void> {
    await letOwnerForge(this.running.urlFor('admin'));
    await migrate({ ownerUrl: this.running.ownerUrl });
  }

  urlFor(role: DatabaseRole): string {
    return this.running.urlFor(role);
  }

  /** The pool ends with the server's next stop. */
  pool(role: DatabaseRole, options: { max?: number; database?: string } = {}): pg.Pool {
    const { max = 8, database } = options;
    const url = this.running.urlFor(role);
    const at = database === undefined ? url : databaseUrlOf(url, database);
    const pool = openPool({ url: at, max, applicationName: `month-${role}` });
    // The first statement on the connection. If the connection is lost here, its first user gets the error.
    pool.on('connect', (client) => void client.query(NO_TIMEOUTS).catch(() => undefined));
    this.pools.push(pool);
    return pool;
  }

  /** Kills the server like a power cut would, and waits until it runs again. */
  async crash(): Promise<void> {
    const { pid } = this.running;
    process.kill(pid, 'SIGKILL');
    await until('the server to run again', async () => this.running.pid !== pid && (await this.answers()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end().catch(() => undefined)));
    this.pools = [];
    await this.server?.stop();
    this.server = undefined;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private get running(): EmbeddedPostgres {
    if (!this.server) throw new Error('the server does not run');
    return this.server;
  }

  private async answers(): Promise<boolean> {
    const pool = openPool({ url: this.running.ownerUrl, max: 1, applicationName: 'month-probe' });
    try {
      await pool.query('SELECT 1');
      return true;
    } catch {
      return false;
    } finally {
      await pool.end();
    }
  }
}
