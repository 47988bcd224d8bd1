import type pg from 'pg';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';

/** The most keys recorded between two writes. Others are recorded by their next call. */
const MAX_NOTED = 100_000;

export interface KeyUseOptions {
  pool: pg.Pool;
  log: Logger;
  clock: Clock;
  /** The time between two writes, in milliseconds. A minute is precise enough for people, and cheap for any number of calls. */
  intervalMs: number;
}

/** Records when keys were last used: in memory during a call, and from time to time in the database for all of them. */
export class KeyUse extends Looping {
  private noted = new Map<string, number>();

  constructor(private readonly options: KeyUseOptions) {
    const { log, intervalMs } = options;
    super({ name: 'use of keys', intervalMs, log });
  }

  note(keyId: string): void {
    this.keep(keyId, this.options.clock.nowMs());
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.round().catch((error: unknown) => {
      this.options.log.warn({ err: error }, 'the last use of some keys could not be recorded');
    });
  }

  /** What could not be written, and keys that someone is changing, wait for the next round. */
  protected async round(): Promise<void> {
    const { noted } = this;
    if (noted.size === 0) return;
    this.noted = new Map();
    try {
      for (const keyId of await this.write(noted)) this.keepAgain(keyId, noted);
    } catch (error) {
      for (const keyId of noted.keys()) this.keepAgain(keyId, noted);
      throw error;
    }
  }

  /** In order of ids, like every writer of several rows. @returns the keys that someone is changing */
  private async write(noted: ReadonlyMap<string, number>): Promise<string[]> {
    const sorted = [...noted].sort(([a], [b]) => (a < b ? -1 : 1));
    const { rows } = await this.options.pool.query<{ id: string }>(
      `WITH used AS (SELECT * FROM unnest($1::text[], $2::float8[]) AS t (id, at_ms)),
         free AS (SELECT k.id FROM api_keys k JOIN used USING (id) ORDER BY k.id FOR NO KEY UPDATE OF k SKIP LOCKED),
         written AS (
           UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, to_timestamp(used.at_ms / 1000))
           FROM used JOIN free USING (id) WHERE k.id = used.id)
       SELECT id FROM api_keys JOIN used USING (id) EXCEPT SELECT id FROM free`,
      [sorted.map(([keyId]) => keyId), sorted.map(([, atMs]) => atMs)],
    );
    return rows.map(({ id }) => id);
  }

  private keepAgain(keyId: string, noted: ReadonlyMap<string, number>): void {
    if (!this.noted.has(keyId)) this.keep(keyId, noted.get(keyId)!);
  }

  private keep(keyId: string, atMs: number): void {
    if (this.noted.has(keyId) || this.noted.size < MAX_NOTED) this.noted.set(keyId, atMs);
  }
}
