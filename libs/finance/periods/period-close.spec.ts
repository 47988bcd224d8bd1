import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { buildSnapshots, dropSnapshots } from '#ledger/reports/balance-snapshots.fixture.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { type TrialBalance, trialBalance } from '#ledger/reports/trial-balance.js';
import { nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { spreadOverDays } from '../../../test/support/spread.js';
import { waiveAll } from '../../../test/support/waivers.js';
import { hashBalances } from './balances-hash.js';
import { catchUp } from './catch-up.js';
import { recordCloseGrace } from './close-grace.js';
import { findPeriod, listLatePostings, listPeriods, type Period, periodBalances } from './period.js';
import type { CloseOptions, CloseRequest } from './close-attempt.js';
import { checkPeriod } from './period-check.js';
import { closePeriod } from './period-close.js';

let fixture: LedgerFixture;
let pool: pg.Pool;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
  const life = new LedgerLife(fixture);
  await life.everything();
  await life.close();
  // This test data has no service to mark what was returned.
  await pool.query(
    `UPDATE suspense_items s SET state = 'returned', cleared_transaction_id = t.id, cleared_by = 'cli', cleared_at = now()
     FROM ledger_transactions t WHERE t.linked_id = s.transaction_id`,
  );
  await spreadOverDays(fixture.owner, DAYS);
});
afterAll(() => fixture.close());

const DAYS = 4;

function options(changed: Partial<CloseOptions> = {}): CloseOptions {
  const limits = { marginMs: 0, waitMs: 60_000, limitMs: 60_000 };
  return { ...limits, catchUp: () => catchUp(pool, { log: fixture.log }), ...changed };
}

function request(changed: Partial<CloseRequest> = {}): CloseRequest {
  return { end: new Date(), note: null, actor: 'cli', requestId: newId(), ...changed };
}

/** Waives everything that can be waived, because this test data lacks whole parts of the books. */
async function waivedRequest(changed: Partial<CloseRequest> = {}): Promise<CloseRequest> {
  const asked = request(changed);
  await waiveAll(pool, asked.end);
  return asked;
}

async function close(): Promise<Period> {
  const period = await closePeriod(pool, await waivedRequest(), options());
  expect(period.checklist.filter(({ state }) => state === 'failed')).toEqual([]);
  expect(period).toMatchObject({ state: 'closed', abandonedReason: null });
  return period;
}

function book(effectiveAt: string | null = null): Promise<unknown> {
  const item = { provider: 'stripe' as const, orderId: null, amountMinor: 7n, currency: 'USD' };
  return inTransaction(pool, (client) =>
    bookSuspense(client, { ...item, reference: newId(), why: 'no_order', happenedAt: effectiveAt }, 'USD'),
  );
}

function withoutZeros({ balances }: Pick<TrialBalance, 'balances'>): [string, bigint][] {
  return balances.filter(({ balance }) => balance !== 0n).map(({ code, balance }) => [code, balance]);
}

async function again(period: Period): Promise<[string, bigint][]> {
  const { endsAt: at, recordedBefore } = period;
  return withoutZeros(await trialBalance(pool, { by: 'effective', at, recordedBefore }));
}

describe('a close', () => {
  it('stores the trial balance, which late facts, further closes and dropped snapshots do not change', async () => {
    const first = await close();
    const atClose = (await periodBalances(pool, first.id)).map(({ code, balance }) => [code, balance]);
    expect(atClose.length).toBeGreaterThan(5);
    const late = new Date(first.endsAt.getTime() - 50).toISOString();
    await book(late);
    await book(new Date().toISOString());
    const second = await close();
    await book(late);
    expect(await buildSnapshots(pool)).toBe(DAYS);
    expect(await again(first)).toEqual(atClose);
    await dropSnapshots(pool);
    expect(await again(first)).toEqual(atClose);
    expect(hashBalances(await periodBalances(pool, first.id)).toString('hex')).toBe(first.balancesHash);
    expect(await again(second)).not.toEqual(atClose);
    expect(second.startsAt).toEqual(first.endsAt);
    const linked = await listLatePostings(pool, { periodId: first.id, limit: 10, afterId: null });
    expect(linked).toMatchObject([
      { kind: 'suspense', happenedAt: new Date(late) },
      { kind: 'suspense', happenedAt: new Date(late) },
    ]);
    expect((await findPeriod(pool, first.id))?.latePostings).toBe(2);
  });

  it('uses the grace period of the books, and records it', async () => {
    // A contradiction that cannot be waived.
    const { accountId, keyId } = await fixture.account({ credits: '0' });
    await fixture.owner.query(
      `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
         channel_id, deadline, ended_at, created_at)
       VALUES ($1, 'video', $2, $3, 'none', 'openai', 'failed', 'vendora-imagine-video', 'vendora-imagine-video', '{}', 2, 'sandbox',
         now(), now() - interval '10 seconds', now() - interval '20 seconds')`,
      [newId(), accountId, keyId],
    );
    await recordCloseGrace(pool, 5_000);
    const chosen = { ...options(), graceMs: 999_999_000 };
    expect(await closePeriod(pool, await waivedRequest(), chosen)).toMatchObject({
      state: 'abandoned',
      graceMs: 5_000,
      abandonedReason: 'Not in order: control:charges-tasks, control:ledger.',
    });
    await recordCloseGrace(pool, 300_000);
    expect((await close()).graceMs).toBe(300_000);
    await fixture.owner.query(`DELETE FROM tasks WHERE charge_id = 'none'`);
  });

  it('is the same for the same request, and refuses another one under its id', async () => {
    const asked = await waivedRequest();
    const closed = await closePeriod(pool, asked, options());
    expect(closed.state).toBe('closed');
    expect(await closePeriod(pool, asked, options())).toEqual(closed);
    await expect(closePeriod(pool, { ...asked, end: new Date() }, options())).rejects.toMatchObject({
      code: 'other_request',
    });
  });

  it('refuses an end that is too young or closed already', async () => {
    await expect(closePeriod(pool, request(), options({ marginMs: 60_000 }))).rejects.toMatchObject({
      code: 'too_young',
    });
    const [newest] = await listPeriods(pool, { limit: 1, beforeId: null });
    await expect(
      closePeriod(pool, request({ end: newest?.endsAt as Date }), options()),
    ).rejects.toMatchObject({
      code: 'closed_already',
    });
  });

  it('is abandoned if a check fails, names it, and opens the period again', async () => {
    await book();
    const end = new Date();
    const dry = await checkPeriod(pool, { end, limitMs: 60_000 });
    expect(dry.checklist.find(({ id }) => id === 'control:suspense')).toMatchObject({
      state: 'failed',
      waivable: true,
    });
    const period = await closePeriod(pool, request({ end }), options());
    expect(period).toMatchObject({ state: 'abandoned', balancesHash: null });
    expect(period.abandonedReason).toContain('control:suspense');
    expect(period.checklist.find(({ id }) => id === 'control:suspense')).toMatchObject({ state: 'failed' });
    const before = await listLatePostings(pool, { periodId: period.id, limit: 1, afterId: null });
    await book(new Date(end.getTime() - 1).toISOString());
    expect(await listLatePostings(pool, { periodId: period.id, limit: 1, afterId: null })).toEqual(before);
  });

  it('is abandoned when a transaction from before it does not end, and names it', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT pg_current_xact_id()');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ours = `process ${rows[0]?.pid} of the database (test-billing), which has run for`;
    // The cluster has other transactions, too. The oldest is named, until it is this one.
    await until('the close to name it', async () => {
      const period = await closePeriod(pool, request(), options({ waitMs: 50, catchUp: undefined }));
      expect(period.state).toBe('abandoned');
      return period.abandonedReason?.includes(ours);
    });
    await client.query('COMMIT');
    client.release();
  });

  it('is made by one of two people who try at once', async () => {
    const results = await Promise.allSettled([1, 2, 3].map(() => closePeriod(pool, request(), options())));
    const made = results.filter(({ status }) => status === 'fulfilled');
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(made).toHaveLength(1);
    expect(refused).toEqual([
      expect.objectContaining({ code: 'running' }),
      expect.objectContaining({ code: 'running' }),
    ]);
  });

  it('that died continues with its own request, and gives way to another', async () => {
    const died = async (): Promise<CloseRequest> => {
      const asked = await waivedRequest();
      await pool.query(
        `INSERT INTO ledger_periods (starts_at, ends_at, waivers, request_id, closed_by)
         VALUES ((SELECT max(ends_at) FROM ledger_periods WHERE state = 'closed'), $1, '[]', $2, 'cli')`,
        [asked.end, asked.requestId],
      );
      return asked;
    };
    const own = await died();
    expect(await closePeriod(pool, own, options())).toMatchObject({ state: 'closed', endsAt: own.end });
    const other = await died();
    const closed = await close();
    const [, before] = await listPeriods(pool, { limit: 2, beforeId: null });
    expect(before).toMatchObject({ state: 'abandoned', endsAt: other.end });
    expect(closed.startsAt).toEqual(own.end);
  });

  it('that is stopped is abandoned', async () => {
    const stop = new AbortController();
    const period = await closePeriod(
      pool,
      request(),
      options({
        signal: stop.signal,
        onProgress: (words) => words.startsWith('2 of') && stop.abort(),
      }),
    );
    expect(period).toMatchObject({ state: 'abandoned', abandonedReason: 'The program was stopped.' });
  });
});

describe('a storm of postings while periods close', () => {
  it('leaves nothing inside that is not in the trial balance, and breaks no posting', async () => {
    const engine = new PostingEngine({ pool, loadPriceBook, log: fixture.log });
    const customers = await Promise.all(Array.from({ length: 8 }, () => fixture.account({ credits: '100' })));
    let storming = true;
    let count = 0;
    const client = async (index: number): Promise<void> => {
      const { accountId, keyId } = customers[index % 8] as (typeof customers)[number];
      while (storming) {
        const chargeId = `storm${(count += 1)}x${newId()}`;
        const held = await engine.hold({
          chargeId,
          accountId,
          keyId,
          model: 'imgmodel-4',
          requestedModel: 'imgmodel-4',
          group: 'Vendora-Main',
          units: 1n,
          quotedAmount: nanos(30_000_000n),
          expiresAtMs: Date.parse('2100-01-01'),
          deadlineMs: null,
          taskId: null,
          requestId: newId(),
          clientIp: null,
        });
        expect(held.outcome).toBe('held');
        await engine.resolve({
          chargeId,
          accountId,
          outcome: 'failed',
          deliveredUnits: 0n,
          channel: null,
          reason: null,
          upstreamStatus: 500,
          latencyMs: 5,
        });
        // Recent events are posted all the time, and some meet the close.
        if (index % 16 === 0) await book(new Date(Date.now() - 20).toISOString());
      }
    };
    const storm = Promise.all(Array.from({ length: 64 }, (_, index) => client(index)));
    const closed: Period[] = [];
    try {
      for (let round = 0; round < 2; round += 1) closed.push(await close());
    } finally {
      storming = false;
      await storm;
      await engine.close();
    }
    for (const period of closed) {
      const stored = (await periodBalances(pool, period.id)).map(({ code, balance }) => [code, balance]);
      expect(await again(period)).toEqual(stored);
      const inside = await pool.query(
        `SELECT FROM ledger_transactions WHERE effective_at < $1 AND recorded_at >= $2::timestamptz`,
        [period.endsAt, period.recordedBefore],
      );
      expect(inside.rowCount).toBe(0);
    }
    expect(count).toBeGreaterThan(64);
  });
});
