import type pg from 'pg';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';

/** A minute is precise enough for people, and one write per minute is cheap for any number of calls. */
const INTERVAL_MS = 60_000;
/** The most keys recorded between two writes. Others are recorded by their next call. */
const MAX_NOTED = 100_000;

export interface KeyUseOptions {
  pool: pg.Pool;
  log: Logger;
  clock: Clock;
  /** The time between two writes, in milliseconds. */
  intervalMs?: number;
}

/** Records when keys were last used: in memory during a call, and from time to time in the database for all of them. */
export class KeyUse extends Looping {
  private noted = new Map<string, number>();

  constructor(private readonly options: KeyUseOptions) {
    const { log, intervalMs = INTERVAL_MS } = options;
    super({ name: 'use of keys', intervalMs, log });
  }

  note(keyId: string): void {
    if (this.noted.has(keyId) || this.noted.size < MAX_NOTED)
      this.noted.set(keyId, this.options.clock.nowMs());
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.round().catch((error: unknown) => {
      this.options.log.warn({ err: error }, 'the last use of some keys could not be recorded');
    });
  }

  /** In order of ids, like every writer of several rows. A key that someone is changing waits for the next round. */
  protected async round(): Promise<void> {
    if (this.noted.size === 0) return;
    const noted = [...this.noted].sort(([a], [b]) => (a < b ? -1 : 1));
    this.noted = new Map();
    await this.options.pool.query(
      `WITH used AS (SELECT * FROM unnest($1::text[], $2::float8[]) AS t (id, at_ms)),
         free AS (SELECT k.id FROM api_keys k JOIN used USING (id) ORDER BY k.id FOR NO KEY UPDATE OF k SKIP LOCKED)
       UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, to_timestamp(used.at_ms / 1000))
       FROM used JOIN free USING (id) WHERE k.id = used.id`,
      [noted.map(([keyId]) => keyId), noted.map(([, atMs]) => atMs)],
    );
  }
}
