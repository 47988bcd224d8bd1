import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { race } from '../../test/support/race.js';
import { AttemptsStore } from './attempts.store.js';

const HOUR_MS = 3_600_000;

let ledger: LedgerFixture;
let store: AttemptsStore;
let subject: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  await Promise.all(Array.from({ length: 8 }, () => ledger.billing.query('SELECT 1')));
  store = new AttemptsStore(ledger.billing);
});
beforeEach(() => {
  subject = `sign-in ${newId()}@example.com`;
});
afterAll(() => ledger.close());

function attempt(most: number, windowMs = HOUR_MS) {
  return { subject, limit: { most, windowMs } };
}

/** Ends every open window now. */
function endWindows() {
  return ledger.owner.query('UPDATE attempts SET expires_at = now()');
}

const tooMany = { code: 'too_many_attempts' };

describe('attempts', () => {
  it('pass up to the limit, however many are counted at once', async () => {
    const { succeeded } = await race(Array.from({ length: 12 }, () => store.count(attempt(5))));
    expect(succeeded).toBe(5);
    await expect(store.count(attempt(5))).rejects.toMatchObject(tooMany);
  });

  it('say when the window ends if there are too many', async () => {
    await store.count(attempt(1));
    const { retryAfterSeconds } = (await store.count(attempt(1)).catch((error: unknown) => error)) as {
      retryAfterSeconds: number;
    };
    expect(retryAfterSeconds).toBeGreaterThan(3_500);
    expect(retryAfterSeconds).toBeLessThanOrEqual(3_600);
  });

  it('start again with the next window, which the first of them opens', async () => {
    await store.count(attempt(1));
    await endWindows();
    expect((await race([1, 2, 3].map(() => store.count(attempt(1))))).succeeded).toBe(1);
  });

  it('are forgotten, or taken back one by one and never below zero', async () => {
    for (let tries = 0; tries < 2; tries += 1) await store.count(attempt(2));
    await store.takeBack(subject);
    await store.count(attempt(2));
    await expect(store.count(attempt(2))).rejects.toMatchObject(tooMany);
    await store.forget(subject);
    await store.count(attempt(2));
    for (let tries = 0; tries < 3; tries += 1) await store.takeBack(subject);
    expect((await race([1, 2, 3].map(() => store.count(attempt(2))))).succeeded).toBe(2);
  });

  it('of several subjects are refused by the first that has too many, and counted up to it', async () => {
    const second = { ...attempt(5), subject: `${subject} second` };
    await store.count(attempt(1), second);
    await expect(store.count(attempt(1), second)).rejects.toMatchObject(tooMany);
    const left = await race(Array.from({ length: 6 }, () => store.count(second)));
    expect(left.succeeded).toBe(4);
  });

  it('are stored without the address, and removed when their window has ended', async () => {
    await store.count(attempt(1));
    const { rows } = await ledger.owner.query<{ subject: string }>('SELECT subject FROM attempts');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain('example.com');
    await store.purge();
    await expect(store.count(attempt(1))).rejects.toMatchObject(tooMany);
    await endWindows();
    await store.purge();
    expect((await ledger.owner.query('SELECT FROM attempts')).rowCount).toBe(0);
  });
});
