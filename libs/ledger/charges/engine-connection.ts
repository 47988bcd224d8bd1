import type pg from 'pg';

/**
 * Every statement of a batch finds its rows by their keys. A connection plans it once and keeps the plan, often while
 * the tables are still small, when reading all of one looks cheaper. Such a plan must not be kept, and planning each
 * batch again would take longer than the work. A bitmap would include all charges without an end, which looks small but
 * covers every page.
 */
const SETTINGS = `SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan`;

/**
 * A connection of an engine, kept with the plans of its statements and settings that suit nothing else. A failed one is
 * closed, because the next may lead to a server that took over.
 */
export class EngineConnection {
  /** Null until it is opened, and once it is lost. */
  client: pg.PoolClient | null = null;

  /** `onOpen` is called for each new connection before it is used. */
  constructor(
    private readonly pool: pg.Pool,
    private readonly onOpen: () => void,
  ) {}

  async open(): Promise<pg.PoolClient> {
    if (this.client) return this.client;
    const client = await this.pool.connect();
    try {
      await client.query(SETTINGS);
    } catch (error) {
      client.release(true);
      throw error;
    }
    client.once('end', () => this.close(client));
    this.onOpen();
    this.client = client;
    return client;
  }

  /** Does nothing if it was replaced already. */
  close(client: pg.PoolClient): void {
    if (this.client !== client) return;
    this.client = null;
    client.release(true);
  }
}
