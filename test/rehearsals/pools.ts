import { tmpdir } from 'node:os';
import pg from 'pg';
import { asLogin } from '../support/database.js';
import { until } from '../support/eventually.js';
import { type RehearsalDatabase, startDatabase } from './database.js';
import type { Rehearsal } from './rehearsal.js';

/** Calls while no connection is free. */
const CALLS = 40;
const NAME = 'greedy';
const TOO_MANY = '53300';
/** The programs lose to a client that asks all the time. */
const TAKEN_LIMIT_MS = 30_000;

/** Another client of the server takes every connection, including those of the programs. */
export const poolsExhausted: Rehearsal = {
  name: 'pools',
  fault: 'every connection that PostgreSQL allows taken by another client, later freed',
  isQuick: true,
  prepare: async (undo) => {
    const database = await startDatabase(undo, tmpdir());
    const greedy = new GreedyClient(database);
    undo.add(() => greedy.free());
    return {
      env: database.env,
      hurt: async ({ load }) => {
        await greedy.takeAll();
        await load.failing(CALLS);
        await greedy.free();
        return performance.now();
      },
    };
  },
};

class GreedyClient {
  private readonly taken: pg.Client[] = [];

  constructor(private readonly database: RehearsalDatabase) {}

  /** Resolves when the programs have no connection, and cannot get one. */
  async takeAll(): Promise<void> {
    await asLogin(this.database.server.urlFor('admin'), async (admin) => {
      await until('every connection to be taken', async () => (await this.takeFree()) && this.end(admin), {
        limitMs: TAKEN_LIMIT_MS,
      });
    });
  }

  async free(): Promise<void> {
    await Promise.all(this.taken.splice(0).map((client) => client.end()));
  }

  private async takeFree(): Promise<true> {
    for (;;) {
      const client = new pg.Client({
        connectionString: this.database.server.ownerUrl,
        application_name: NAME,
      });
      try {
        await client.connect();
        this.taken.push(client);
      } catch (error) {
        if ((error as { code?: string }).code !== TOO_MANY) throw error;
        return true;
      }
    }
  }

  /** Ends the connections of all others. @returns whether there were none */
  private async end(admin: pg.Client): Promise<boolean> {
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND application_name <> $1 AND pid <> pg_backend_pid()`,
      [NAME],
    );
    return rowCount === 0;
  }
}
