import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type pg from 'pg';
import { inTransaction, openPool } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { IdempotencyStore, type KeptAnswer, type KeyedRequest } from './idempotency.store.js';

const MINUTE_MS = 60_000;
const TIMES = { leaseMs: MINUTE_MS, lifeMs: MINUTE_MS };
const ANSWER = { status: 200, contentType: 'application/json', headers: { 'x-served-model': 'picture' } };

let ledger: LedgerFixture;
let pool: pg.Pool;
let store: IdempotencyStore;
let keyId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  pool = openPool({ url: ledger.urlFor('gateway'), max: 8, applicationName: 'spec' });
  await Promise.all(Array.from({ length: 8 }, () => pool.query('SELECT 1')));
  store = new IdempotencyStore(pool);
});
beforeEach(async () => {
  ({ keyId } = await ledger.account({ credits: '0' }));
});
afterAll(async () => {
  await pool.end();
  await ledger.close();
});

function request(of: Partial<KeyedRequest> = {}): KeyedRequest {
  return { keyId, name: 'order-1', contentHash: Buffer.alloc(32, 1), chargeId: newId(), ...of };
}

async function claimed(times = TIMES): Promise<KeyedRequest> {
  const first = request();
  expect(await store.claim(first, times)).toBe(true);
  return first;
}

function answer({ chargeId }: KeyedRequest, body: KeptAnswer['body'] = { bytes: Buffer.from('{}') }) {
  return store.answer(chargeId, { ...ANSWER, body });
}

function find() {
  return store.find(keyId, 'order-1');
}

describe('a request with an Idempotency-Key', () => {
  it('is the first for only one of many simultaneous ones', async () => {
    const many = Array.from({ length: 8 }, () => request());
    const firsts = await Promise.all(many.map((each) => store.claim(each, TIMES)));
    expect(firsts.filter(Boolean)).toHaveLength(1);
    expect((await find())!.chargeId).toBe(many[firsts.indexOf(true)]!.chargeId);
  });

  it('has a separate name for each API key', async () => {
    await claimed();
    const { keyId: other } = await ledger.account({ credits: '0' });
    expect(await store.claim(request({ keyId: other }), TIMES)).toBe(true);
    expect(await store.claim(request({ name: 'order-2' }), TIMES)).toBe(true);
    expect(await store.find(other, 'order-2')).toBeNull();
  });

  it('stores its answer, the first one, in bytes or in a file', async () => {
    const first = await claimed();
    expect(await find()).toEqual({
      chargeId: first.chargeId,
      contentHash: first.contentHash,
      isExpired: false,
      isLeft: false,
      answer: null,
    });
    await answer(first, { bytes: Buffer.from('{"a":1}') });
    await answer(first, { file: 'later' });
    expect((await find())!.answer).toEqual({ ...ANSWER, body: { bytes: Buffer.from('{"a":1}') } });
    const second = request({ name: 'order-2' });
    await store.claim(second, TIMES);
    const other = { ...ANSWER, headers: {}, body: { file: 'kept/answer' } };
    await store.answer(second.chargeId, other);
    expect((await store.find(keyId, 'order-2'))!.answer).toEqual(other);
  });
});

describe('a running request', () => {
  it('is abandoned if nobody renews it, and the next one becomes the first', async () => {
    const outcome = vi.fn(() => Promise.resolve(null));
    const first = await claimed({ ...TIMES, leaseMs: 0 });
    expect(await find()).toMatchObject({ isLeft: true });
    await store.renew([first.chargeId], MINUTE_MS);
    expect(await find()).toMatchObject({ isLeft: false });
    // It is still in progress after all.
    expect(await store.outcomeOfLeft(first.chargeId, outcome)).toBeNull();
    expect(outcome).not.toHaveBeenCalled();
    expect(await find()).not.toBeNull();
    await store.renew([first.chargeId], 0);
    expect(await store.outcomeOfLeft(first.chargeId, () => Promise.resolve('a task'))).toBe('a task');
    expect(await find()).not.toBeNull();
    expect(await store.outcomeOfLeft(first.chargeId, outcome)).toBeNull();
    const next = await claimed();
    // The previous one no longer owns anything.
    await answer(first);
    await store.free(first.chargeId);
    expect(await find()).toMatchObject({ chargeId: next.chargeId, answer: null });
  });

  it('is freed if it failed, but not once it was answered', async () => {
    const first = await claimed();
    await store.free(first.chargeId);
    const second = await claimed();
    await answer(second);
    await store.free(second.chargeId);
    await store.renew([second.chargeId], 0);
    expect(await store.outcomeOfLeft(second.chargeId, () => Promise.resolve(null))).toBeNull();
    expect(await find()).toMatchObject({ chargeId: second.chargeId, isLeft: false });
  });
});

describe('a request that starts with another model', () => {
  it('holds its row until that is saved, so that no repeat starts over meanwhile', async () => {
    const { chargeId } = await claimed();
    const seen: string[] = [];
    let repeat: Promise<unknown> = Promise.resolve();
    await inTransaction(pool, async (client) => {
      expect(await store.lockHeld(client, chargeId)).toBe(true);
      await store.renew([chargeId], 0);
      repeat = store.outcomeOfLeft(chargeId, async () => seen.push('read'));
      await until('the wait of the repeat', async () => {
        const { rows } = await pool.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
            AND wait_event_type = 'Lock' AND query LIKE '%lease_until%FOR UPDATE%'`,
        );
        return rows.length === 1 || seen.length > 0;
      });
      seen.push('saved');
    });
    await repeat;
    expect(seen).toEqual(['saved', 'read']);
  });

  it('may not do so once its lease has ended or its row is gone', async () => {
    const { chargeId } = await claimed({ ...TIMES, leaseMs: 0 });
    const mayBegin = () => inTransaction(pool, (client) => store.lockHeld(client, chargeId));
    expect(await mayBegin()).toBe(false);
    await store.renew([chargeId], MINUTE_MS);
    expect(await mayBegin()).toBe(true);
    await store.free(chargeId);
    expect(await mayBegin()).toBe(false);
  });
});

describe('expired requests', () => {
  it('are deleted a few at a time, with their files, even by two at once', async () => {
    const files = ['a', 'b', 'c', 'd'];
    for (const name of files) {
      const each = request({ name });
      await store.claim(each, { ...TIMES, lifeMs: 0 });
      await answer(each, { file: name });
    }
    await claimed();
    expect(await store.find(keyId, 'a')).toMatchObject({ isExpired: true });
    const purged = await Promise.all([store.purge(2), store.purge(2), store.purge(2)]);
    purged.push(await store.purge(2));
    expect(purged.flatMap((each) => each.files).sort()).toEqual(files);
    expect(purged.every(({ rows }) => rows <= 2)).toBe(true);
    expect(await find()).toMatchObject({ isExpired: false });
  });

  it('are deleted by name, if they have expired', async () => {
    const live = await claimed();
    expect(await store.purge(1, live.chargeId)).toEqual({ rows: 0, files: [] });
    await store.free(live.chargeId);
    const old = await claimed({ ...TIMES, lifeMs: 0 });
    expect(await store.purge(1, old.chargeId)).toEqual({ rows: 1, files: [] });
    expect(await find()).toBeNull();
  });
});
