import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { linesOfHour } from './hour-lines.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());
afterEach(() => ledger.owner.query('DELETE FROM charges'));

const HOUR = '2026-01-05T13:00:00.000Z';

describe('the lines of an hour', () => {
  async function read(page: number): Promise<string[]> {
    const ids: string[] = [];
    for await (const { text, count } of linesOfHour(ledger.billing, new Date(HOUR), page)) {
      const lines = text.trimEnd().split('\n');
      expect(lines).toHaveLength(count);
      expect(count).toBeLessThanOrEqual(page);
      ids.push(...lines.map((line) => (JSON.parse(line) as { chargeId: string }).chargeId));
    }
    return ids;
  }

  it('are the same in pages of any length, with many at one moment', async () => {
    await ledger.owner.query(
      `INSERT INTO charges (id, account_id, state, amount, settled, released, created_at, resolved_at)
       SELECT 'charge-' || n, 'account', 'settled', 1, 1, 0, $1,
         $1::timestamptz + CASE WHEN n < 40 THEN interval '7 minutes' ELSE n * interval '1.000001 s' END
       FROM generate_series(1, 200) AS n`,
      [HOUR],
    );
    const whole = await read(1_000);
    expect(new Set(whole).size).toBe(200);
    for (const page of [1, 7, 39, 200]) expect(await read(page)).toEqual(whole);
  });

  it('have the codes of failures, but no words from others', async () => {
    await ledger.owner.query(
      `INSERT INTO charges (id, account_id, state, settled, released, resolution_reason, resolved_at)
       SELECT 'charge-' || place, 'account', 'released', 0, 0, reason, $1
       FROM unnest($2::text[]) WITH ORDINALITY AS each (reason, place)`,
      [
        HOUR,
        [
          'content_policy_violation',
          'HTTP 500: cannot draw "a boat"',
          'connect ECONNREFUSED 10.0.0.7:443',
          null,
        ],
      ],
    );
    const texts: string[] = [];
    for await (const { text } of linesOfHour(ledger.billing, new Date(HOUR))) texts.push(text);
    const lines = texts.join('').trimEnd().split('\n');
    const reasons = lines.map((line) => (JSON.parse(line) as { reason: string | null }).reason);
    expect(reasons).toEqual(['content_policy_violation', null, null, null]);
  });

  it.each([
    { held: 'many hours', seconds: '3.6', page: 200, times: 1 },
    { held: 'a busy hour', seconds: '0.09', page: 500, times: 7 },
  ])('are found without reading a table of $held again and again', async ({ seconds, page, times }) => {
    const maker = await ledger.owner.connect();
    await maker.query(
      `INSERT INTO charges (id, account_id, state, amount, settled, released, refusal_code, created_at, resolved_at)
       SELECT 'charge-' || n, 'account', CASE WHEN is_refused THEN 'refused' ELSE 'settled' END, 1,
         CASE WHEN NOT is_refused THEN 1 END, CASE WHEN NOT is_refused THEN 0 END, CASE WHEN is_refused THEN 'frozen' END,
         at, CASE WHEN NOT is_refused THEN at + interval '1 second' END
       FROM generate_series(1, 40000) AS n, LATERAL (SELECT $1::timestamptz + (n - 20000) * interval '1 s' * $2 AS at,
         n % 10 = 0 AS is_refused) AS made`,
      [HOUR, seconds],
    );
    await maker.query('VACUUM (FULL, ANALYZE) charges');
    // Otherwise it counts what it read when it likes.
    await maker.query('SELECT pg_stat_force_next_flush()');
    maker.release();
    const pool = openPool({ url: ledger.urlFor('billing'), max: 1, applicationName: 'request-log' });
    try {
      const before = await blocksRead(pool);
      for await (const { count } of linesOfHour(pool, new Date(HOUR), page))
        expect(count).toBeLessThanOrEqual(page);
      const { rows } = await pool.query<{ pages: number }>(
        `SELECT (pg_relation_size('charges') / current_setting('block_size')::int)::int AS pages`,
      );
      const read = (await blocksRead(pool)) - before;
      expect(read).toBeGreaterThan(0);
      expect(read).toBeLessThan(times * rows[0]!.pages);
    } finally {
      await pool.end();
    }
  });
});

/** Blocks of `charges` read so far over a pool's only connection. */
async function blocksRead(pool: pg.Pool): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ blocks: number }>(
    `SELECT (heap_blks_read + heap_blks_hit)::int AS blocks FROM pg_statio_user_tables WHERE relname = 'charges'`,
  );
  return rows[0]!.blocks;
}
