import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { readOverview } from './overview.reader.js';
import { purgeUsageSums, sumUpUsage } from './usage-summary.js';

let fixture: LedgerFixture;
let accountId: string;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  ({ accountId } = await fixture.account({ credits: '5' }));
});
afterAll(() => fixture?.close());

type Ended = 'settled' | 'released' | 'refused' | 'held';

/** A charge as it would be later. Its times are text that PostgreSQL reads. */
async function charge(state: Ended, createdAt: string, resolvedAt = createdAt, owner = accountId) {
  await fixture.owner.query(
    `INSERT INTO charges (id, account_id, state, amount, settled, released, refusal_code, created_at, resolved_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz, $9::timestamptz)`,
    [
      newId(),
      owner,
      state,
      state === 'refused' ? 0 : 10,
      ...(state === 'settled' ? [7, 3] : state === 'released' ? [0, 10] : [null, null]),
      state === 'refused' ? 'insufficient_user_quota' : null,
      createdAt,
      state === 'settled' || state === 'released' ? resolvedAt : null,
    ],
  );
}

/** A time of day in a zone, this many days ago. */
async function at(daysAgo: number, time: string, zone: string): Promise<string> {
  const { rows } = await fixture.owner.query<{ at: string }>(
    `SELECT (((now() AT TIME ZONE $3)::date - $1::int + $2::time) AT TIME ZONE $3)::text AS at`,
    [daysAgo, time, zone],
  );
  return rows[0]!.at;
}

const days = async (zone: string) =>
  (await readOverview(fixture.billing, accountId, zone)).days.filter(({ requests }) => requests > 0);

describe('an overview', () => {
  it('sums up days in the requested zone, before and after the sums are brought up to date', async () => {
    // Just after midnight in Nepal, it is still the previous day nearly everywhere west of it.
    await charge('settled', await at(3, '00:10', 'Asia/Kathmandu'));
    await charge('released', await at(3, '12:00', 'Asia/Kathmandu'));
    await charge('settled', await at(4, '23:50', 'Asia/Kathmandu'));
    await charge('settled', await at(40, '12:00', 'UTC'));
    await charge('refused', await at(3, '12:00', 'UTC'));
    await charge('held', await at(3, '12:00', 'UTC'));
    const stranger = await fixture.account({ credits: '1' });
    await charge('settled', await at(3, '12:00', 'UTC'), undefined, stranger.accountId);
    const expected = [
      { spent: 7n, requests: 1, failures: 0, givenBack: 0n },
      { spent: 7n, requests: 2, failures: 1, givenBack: 10n },
    ];
    const withoutNames = async () => (await days('Asia/Kathmandu')).map(({ day: _, ...sums }) => sums);
    expect(await withoutNames()).toEqual(expected);
    await sumUpUsage(fixture.billing);
    expect(await withoutNames()).toEqual(expected);
    const { days: all } = await readOverview(fixture.billing, accountId, 'UTC');
    expect(all).toHaveLength(30);
    expect(all.at(-1)!.day).toBe(new Date().toISOString().slice(0, 10));
  });

  it('counts what ended late on the day of its request, once, however many add up', async () => {
    const before = await days('UTC');
    await charge('released', await at(3, '13:00', 'UTC'), 'now()');
    await sumUpUsage(fixture.billing);
    await Promise.all(Array.from({ length: 8 }, () => sumUpUsage(fixture.billing, undefined, 1)));
    const after = await days('UTC');
    const requests = (list: typeof after) => list.reduce((sum, day) => sum + day.requests, 0);
    expect(requests(after)).toBe(requests(before) + 1);
    const { rows } = await fixture.owner.query<{ sums: string; charges: string }>(
      `SELECT (SELECT sum(requests)::text FROM usage_quarters) AS sums,
         (SELECT count(*)::text FROM charges WHERE resolved_at >= now() - interval '60 days') AS charges`,
    );
    expect(rows[0]!.sums).toBe(rows[0]!.charges);
    await fixture.owner.query(
      `INSERT INTO usage_quarters VALUES ($1, now() - interval '90 days', 1, 1, 1, 1)`,
      [accountId],
    );
    await purgeUsageSums(fixture.billing);
    const { rows: left } = await fixture.owner.query<{ sums: string }>(
      'SELECT sum(requests)::text AS sums FROM usage_quarters',
    );
    expect(left[0]!.sums).toBe(rows[0]!.sums);
  });

  it('refuses a zone that the database does not know', async () => {
    await expect(readOverview(fixture.billing, accountId, 'Mars/Olympus')).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'zone',
    });
  });
});
