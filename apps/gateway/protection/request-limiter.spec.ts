import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { createLogger } from '#platform/logging.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { withinOneMinute } from '../../../test/support/minute.js';
import { RequestLimiter } from './request-limiter.js';

describe('RequestLimiter', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let queries: number;
  let subject: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = openPool({ url: database.urlFor('gateway'), max: 4, applicationName: 'test-gateway' });
    pool.on('acquire', () => (queries += 1));
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  /** A test that does not depend on how much of a minute is left. */
  function inOneMinute(what: string, work: () => Promise<void>): void {
    it(what, () =>
      withinOneMinute(async () => {
        subject = `key ${crypto.randomUUID()}`;
        queries = 0;
        await work();
      }),
    );
  }

  const unused = { requestsPerMinute: 1, concurrentRequests: 1 };
  const defaults = { key: unused, account: unused };
  const limiter = (clock: Clock = systemClock) =>
    new RequestLimiter({ pool, clock, log: createLogger('test', 'silent'), defaults });

  async function passed(limiters: RequestLimiter[], perMinute: number, requests: number): Promise<number> {
    const taken = await Promise.all(
      Array.from({ length: requests }, (_, index) =>
        limiters[index % limiters.length]!.take([{ subject, most: perMinute }]),
      ),
    );
    return taken.filter(({ passes }) => passes).length;
  }

  inOneMinute('lets exactly the limit pass, however many gateways share it', async () => {
    expect(await passed([limiter(), limiter(), limiter()], 100, 400)).toBe(100);
    expect(queries).toBeLessThanOrEqual(20 + 3);
  });

  inOneMinute(
    'asks the database about few of the requests, and about none once the limit is reached',
    async () => {
      const one = limiter();
      expect(await passed([one], 600, 300)).toBe(300);
      expect(queries).toBe(10);
      expect(await passed([one], 600, 400)).toBe(300);
      const spent = queries;
      expect(await passed([one], 600, 50)).toBe(0);
      expect(queries).toBe(spent);
    },
  );

  inOneMinute('counts a small limit one by one, and reports what is left', async () => {
    const one = limiter();
    const left: number[] = [];
    for (let request = 0; request < 3; request += 1) {
      const { tightest } = await one.take([{ subject, most: 3 }]);
      left.push(tightest.remaining);
      expect(tightest.resetMs).toBeGreaterThan(0);
      expect(tightest.resetMs).toBeLessThanOrEqual(60_000);
    }
    expect(left).toEqual([2, 1, 0]);
    expect(await one.take([{ subject, most: 3 }])).toMatchObject({
      passes: false,
      tightest: { perMinute: 3, remaining: 0 },
    });
    expect(await passed([limiter()], 3, 5)).toBe(0);
  });

  inOneMinute('takes nothing from a limit if another one is reached', async () => {
    const one = limiter();
    const group = { subject: `group ${crypto.randomUUID()}`, most: 2 };
    const both = [{ subject, most: 10 }, group];
    const taken = [await one.take(both), await one.take(both), await one.take(both)];
    expect(taken.map(({ passes }) => passes)).toEqual([true, true, false]);
    expect(taken[1]?.tightest).toMatchObject({ perMinute: 2, remaining: 0 });
    expect(await passed([one], 10, 20)).toBe(8);
  });

  inOneMinute('lets no more than the limit pass in amounts of several, and nearly all of it', async () => {
    const limiters = [limiter(), limiter(), limiter()];
    const taken = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        limiters[index % 3]!.take([{ subject, most: 1_000 }], 1 + (index % 12)),
      ),
    );
    const sum = taken.reduce((total, { passes }, index) => total + (passes ? 1 + (index % 12) : 0), 0);
    expect(sum).toBeLessThanOrEqual(1_000);
    expect(sum).toBeGreaterThan(1_000 - 3 * 12);
  });

  inOneMinute('takes nothing for what could never pass', async () => {
    const one = limiter();
    expect(await one.take([{ subject, most: 10 }], 11)).toMatchObject({ passes: false });
    expect(await one.take([{ subject, most: 10 }], 10)).toMatchObject({ passes: true });
  });

  inOneMinute('starts again with the next minute', async () => {
    const clock = new ManualClock(Date.now());
    const one = limiter(clock);
    expect(await passed([one], 5, 9)).toBe(5);
    await pool.query('UPDATE request_allowances SET minute = minute - 1 WHERE subject = $1', [subject]);
    expect(await passed([one], 5, 9)).toBe(0);
    clock.jump(-3_600_000);
    clock.advance(60_000);
    expect(await passed([one], 5, 9)).toBe(5);
  });
});
