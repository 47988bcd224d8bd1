import pg from 'pg';
import type { EmbeddedPostgres } from '#database/embedded-postgres.js';
import { asLogin } from '../database.js';
import { until } from '../eventually.js';

const NAME = 'greedy';
const TOO_MANY = '53300';

/** Another client of a database server. It takes every connection, including those of the programs. */
export class GreedyClient {
  private readonly taken: pg.Client[] = [];

  constructor(private readonly server: Pick<EmbeddedPostgres, 'urlFor'>) {}

  /** Resolves when the programs have no connection and cannot get one. */
  async takeAll(): Promise<void> {
    await asLogin(this.server.urlFor('admin'), async (admin) => {
      await until('every connection to be taken', async () => (await this.takeFree()) && this.end(admin));
    });
  }

  async free(): Promise<void> {
    await Promise.all(this.taken.splice(0).map((client) => client.end()));
  }

  private async takeFree(): Promise<true> {
    for (;;) {
      const client = new pg.Client({ connectionString: this.server.urlFor('owner'), application_name: NAME });
      // The server may end while the connection is held.
      client.on('error', () => undefined);
      try {
        await client.connect();
        this.taken.push(client);
      } catch (error) {
        if ((error as { code?: string }).code !== TOO_MANY) throw error;
        return true;
      }
    }
  }

  /** Ends everybody else's connections. @returns whether there were none */
  private async end(admin: pg.Client): Promise<boolean> {
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND application_name <> $1 AND pid <> pg_backend_pid()`,
      [NAME],
    );
    return rowCount === 0;
  }
}
