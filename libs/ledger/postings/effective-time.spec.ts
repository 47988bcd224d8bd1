import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { EffectiveTimeRefused, heldBetween } from './effective-time.js';
import { lockBalance, post } from './posting.js';

const DAY_MS = 86_400_000;

let fixture: LedgerFixture;
let pool: pg.Pool;
let accountId: string;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
});
afterAll(() => fixture.close());
beforeEach(async () => {
  ({ accountId } = await fixture.account({ credits: '1' }));
  await fixture.owner.query(`UPDATE accounts SET created_at = now() - interval '60 days' WHERE id = $1`, [
    accountId,
  ]);
});

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}

/** Closes a period up to a time, directly in the database. */
async function close(end: string, state: 'closing' | 'closed' | 'abandoned'): Promise<string> {
  const { rows } = await pool.query<{ id: bigint }>(
    `INSERT INTO ledger_periods (starts_at, ends_at, waivers, request_id, closed_by)
     VALUES ((SELECT coalesce(max(ends_at), '-infinity') FROM ledger_periods WHERE state = 'closed'), $1, '[]', $2, 'cli')
     RETURNING id`,
    [end, newId()],
  );
  const id = String(rows[0]?.id);
  if (state === 'closed') {
    await pool.query(
      `UPDATE ledger_periods SET state = 'closed', last_ledger_id = 0, closing_recorded_before = now(), checklist = '[]',
         balances_hash = decode(repeat('00', 32), 'hex'), ended_at = now() WHERE id = $1`,
      [id],
    );
  }
  if (state === 'abandoned') {
    await pool.query(
      `UPDATE ledger_periods SET state = 'abandoned', abandoned_reason = 'no', ended_at = now() WHERE id = $1`,
      [id],
    );
  }
  return id;
}

async function postAt(
  happenedAt: string | null,
): Promise<{ id: bigint; effectiveAt: Date; recordedAt: Date }> {
  const id = await inTransaction(pool, async (client) => {
    const account = await lockBalance(client, accountId);
    return post(client, {
      kind: 'suspense',
      reference: `test:${newId()}`,
      accountId,
      effectiveAt: happenedAt,
      movements: [
        { code: 'suspense:crd', commodity: 'CRD', amount: -7n },
        { account, purpose: 'main', amount: 7n },
      ],
    });
  });
  const { rows } = await pool.query<{ effectiveAt: Date; recordedAt: Date }>(
    'SELECT effective_at AS "effectiveAt", recorded_at AS "recordedAt" FROM ledger_transactions WHERE id = $1',
    [id],
  );
  return { id, ...(rows[0] as { effectiveAt: Date; recordedAt: Date }) };
}

describe('a posting of a fact', () => {
  it('is effective when the fact happened, while the books of then are open', async () => {
    const at = daysAgo(40);
    expect((await postAt(at)).effectiveAt.toISOString()).toBe(at);
    await close(daysAgo(45), 'abandoned');
    expect((await postAt(at)).effectiveAt.toISOString()).toBe(at);
  });

  it('refuses future times and times before its account, and treats a clock that is slightly ahead as now', async () => {
    await expect(postAt(new Date(Date.now() + DAY_MS).toISOString())).rejects.toThrow(EffectiveTimeRefused);
    await expect(postAt('infinity')).rejects.toThrow(EffectiveTimeRefused);
    await expect(postAt(daysAgo(62))).rejects.toThrow('before the account was opened');
    const ahead = new Date(Date.now() + 60_000);
    expect((await postAt(ahead.toISOString())).effectiveAt < ahead).toBe(true);
  });

  it('that comes after its period was closed is posted now and linked to that period', async () => {
    const first = await close(daysAgo(30), 'closed');
    const second = await close(daysAgo(20), 'closing');
    const reported = [daysAgo(35), daysAgo(25), daysAgo(10)];
    const posted = [];
    for (const at of reported) posted.push(await postAt(at));
    const { rows } = await pool.query<{ id: bigint; period: bigint; at: Date }>(
      'SELECT transaction_id AS id, period_id AS period, happened_at AS at FROM late_postings ORDER BY 1',
    );
    expect(rows).toEqual([
      { id: posted[0]?.id, period: BigInt(first), at: new Date(reported[0] as string) },
      { id: posted[1]?.id, period: BigInt(second), at: new Date(reported[1] as string) },
    ]);
    expect(
      posted.map(({ effectiveAt, recordedAt }) => recordedAt.getTime() - effectiveAt.getTime() < 1000),
    ).toEqual([true, true, false]);
  });
});

describe('a time that a machine reports', () => {
  const opened = new Date('2026-01-10T12:00:00Z');
  const now = new Date('2026-01-20T12:00:00Z');

  it('is limited to between the earliest possible time and now', () => {
    expect(heldBetween('2026-01-15T00:00:00Z', opened, now)).toBe('2026-01-15T00:00:00.000Z');
    expect(heldBetween('2020-01-15T00:00:00Z', opened, now)).toBe(opened.toISOString());
    for (const reported of [null, 'soon', '2026-01-21T00:00:00Z'])
      expect(heldBetween(reported, opened, now)).toBeNull();
  });
});
