import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { post } from '#ledger/postings/posting.js';
import { recognisePresent } from '#ledger/lots/recognition.fixture.js';
import { newId } from '#platform/ids.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { runControls } from '../control-run.js';
import { deferredRevenueControl } from './lots.control.js';

let fixture: LedgerFixture;
let pool: pg.Pool;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
  const life = new LedgerLife(fixture);
  await life.everything();
  await life.close();
  await recognisePresent(pool);
});
afterAll(() => fixture?.close());

async function found(since: Date | null) {
  const { outcomes } = await runControls(pool, {
    controls: [deferredRevenueControl],
    graceMs: 0,
    limitMs: 60_000,
    since: since === null ? new Map() : new Map([['deferred-revenue', since.toISOString()]]),
  });
  const { result, error } = outcomes[0]!;
  expect(error).toBeNull();
  expect(result!.count).toBe(result!.items.length);
  expect(result!.items.flatMap((item) => unsaid(deferredRevenueControl, item))).toEqual([]);
  return result!.items;
}

const HOUR_MS = 3_600_000;
const anHourAgo = () => new Date(Date.now() - HOUR_MS);

describe('the control of deferred revenue', () => {
  it('finds nothing in postings of every type, in the whole ledger and in the last hour', async () => {
    expect(await found(null)).toEqual([]);
    expect(await found(anHourAgo())).toEqual([]);
  });

  it('names a posting without a lot, by its transaction, while it is recent and in every full run', async () => {
    const id = await inTransaction(pool, (client) =>
      post(client, {
        kind: 'topup',
        reference: newId(),
        accountId: null,
        linkedId: null,
        movements: [
          { code: 'deferred-revenue', commodity: 'PAY', amount: 7n },
          { code: 'psp:manual', commodity: 'PAY', amount: -7n },
        ],
      }),
    );
    const named = {
      subject: `transaction:${id}`,
      state: 'posting_differs',
      transactionIds: [id],
      details: expect.objectContaining({ amount: '7 minor units', expected: '0 minor units' }) as unknown,
    };
    const recent = await found(anHourAgo());
    expect(recent).toMatchObject([named]);
    expect(Date.parse(recent[0]!.at!)).toBeGreaterThan(anHourAgo().getTime());
    expect(await found(new Date(Date.now() + HOUR_MS))).toEqual([]);
    expect(await found(null)).toMatchObject([{ subject: 'ledger-account:deferred-revenue' }, named]);
  });

  it('names a posting that recognised a different amount than its uses', async () => {
    const { rows } = await fixture.owner.query<{ id: string }>(
      'SELECT recognition_id::text AS id FROM lot_uses WHERE minor > 0 ORDER BY id DESC LIMIT 1',
    );
    const { id } = rows[0]!;
    const use = `recognition_id = ${id} AND minor = (SELECT max(minor) FROM lot_uses WHERE recognition_id = ${id})`;
    await fixture.owner.query('ALTER TABLE lot_uses DISABLE TRIGGER USER');
    await fixture.owner.query(`UPDATE lot_uses SET minor = minor - 1 WHERE ${use}`);
    const subjects = (await found(anHourAgo())).map(({ subject }) => subject);
    await fixture.owner.query(`UPDATE lot_uses SET minor = minor + 1 WHERE ${use}`);
    await fixture.owner.query('ALTER TABLE lot_uses ENABLE TRIGGER USER');
    expect(subjects).toContain(`transaction:${id}`);
    expect(await found(anHourAgo())).toHaveLength(1);
  });
});
