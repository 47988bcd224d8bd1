import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { inTransaction, isTransient } from '#database/database.js';
import type { Logger } from '#platform/logging.js';
import type { ClockedServer } from './clocked-server.js';

/** How long a call is retried while the server recovers. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

/** The database of the month as the programs see it: one pool per role, which survives restarts. */
export class MonthDatabase {
  billing!: pg.Pool;
  gateway!: pg.Pool;
  worker!: pg.Pool;
  owner!: pg.Pool;
  /** Billing's login. */
  billingUrl!: string;
  readonly log: Logger;

  constructor(private readonly server: ClockedServer) {
    this.log = server.log;
    this.connect();
  }

  /** Call this after each start of the server. */
  connect(): void {
    this.billing = this.server.pool('billing', { max: 24 });
    this.gateway = this.server.pool('gateway', { max: 8 });
    this.worker = this.server.pool('worker', { max: 8 });
    this.owner = this.server.pool('owner', { max: 4 });
    this.billingUrl = this.server.urlFor('billing');
  }

  /** Retries, with the same IDs, what fails because the server went away, as every client of the programs does. */
  async retried<T>(call: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isTransient(error) || performance.now() > deadline) throw error;
        await pause(PAUSE_MS);
      }
    }
  }

  /** A transaction as billing, retried as a whole. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.retried(() => inTransaction(this.billing, work));
  }

  /** The time on the server's clock. */
  async now(): Promise<Date> {
    const { rows } = await this.retried(() =>
      this.owner.query<{ now: Date }>('SELECT clock_timestamp() AS now'),
    );
    return (rows[0] as { now: Date }).now;
  }
}
