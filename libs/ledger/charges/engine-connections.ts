import type pg from 'pg';

/**
 * Every statement of a batch finds its rows by their keys. A connection plans it once and keeps the plan, often while
 * the tables are still small, when reading all of one looks cheaper. Such a plan must not be kept, and planning each
 * batch again would take longer than the work. A bitmap would include all charges without an end, which looks small but
 * covers every page.
 */
const SETTINGS = `SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan`;

/**
 * Connections of an engine, with the plans of its statements and settings that suit nothing else. A failed one is
 * closed, because the next may lead to a server that took over.
 */
export class EngineConnections {
  private readonly idle: pg.PoolClient[] = [];
  private closed = false;

  /** `onOpen` is called for each new connection before it is used. */
  constructor(
    private readonly pool: pg.Pool,
    private readonly onOpen: () => void,
  ) {}

  async take(): Promise<pg.PoolClient> {
    return this.idle.pop() ?? (await this.open());
  }

  putBack(client: pg.PoolClient, isGood: boolean): void {
    if (isGood && !this.closed) this.idle.push(client);
    else client.release(true);
  }

  /** Those in use are closed when they are returned. */
  close(): void {
    this.closed = true;
    for (const client of this.idle.splice(0)) client.release(true);
  }

  private async open(): Promise<pg.PoolClient> {
    const client = await this.pool.connect();
    try {
      await client.query(SETTINGS);
    } catch (error) {
      client.release(true);
      throw error;
    }
    client.once('end', () => this.lose(client));
    this.onOpen();
    return client;
  }

  private lose(client: pg.PoolClient): void {
    const place = this.idle.indexOf(client);
    if (place < 0) return;
    this.idle.splice(place, 1);
    client.release(true);
  }
}
