import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ManualClock } from '#platform/clock.fixture.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../../test/support/audit.js';
import { openEntities } from '../../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { NOBODY_WAITS } from '../../../test/support/payments.js';
import { meetAt } from '../../../test/support/race.js';
import { staffActor } from '../../../test/support/staff.js';
import { createKey } from '../accounts/customers.js';
import { type KeyChange, KeyService } from './key.service.js';

const GROUP = 'Vendora-Main';

let ledger: LedgerFixture;
let source: DataSource;
let keys: KeyService;
const clock = new ManualClock(Date.now());

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  keys = new KeyService({ source, relay: NOBODY_WAITS, clock });
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

/** Somebody with an account that has one key. */
async function owner(): Promise<KeyChange> {
  return { actor: await staffActor(ledger), requestId: newId() };
}

function create(by: KeyChange) {
  return keys.create(by, { name: 'a key', group: GROUP });
}

async function announced(keyId: string): Promise<number> {
  const { rows } = await ledger.owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM outbox WHERE payload ->> 'keyId' = $1`,
    [keyId],
  );
  return rows[0]!.count;
}

describe('a key', () => {
  it('is one of at most five hundred that an account creates in a day, even if it deletes them', async () => {
    const by = await owner();
    const { key } = await create(by);
    await keys.remove(by, key.id);
    await ledger.owner.query('UPDATE attempts SET count = 499');
    await create(by);
    await expect(create(by)).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringMatching(/at most 500 new keys in 24 hours\. Try again in 24 hours/),
    });
    await ledger.owner.query('UPDATE attempts SET expires_at = now()');
    expect(await create(by)).toHaveProperty('apiKey');
  });

  it('is one of at most two hundred, even if they are created at once', async () => {
    const by = await owner();
    await ledger.owner.query(
      `INSERT INTO api_keys (id, account_id, name, key_hash, group_name)
       SELECT $1 || n, $1, 'one of many', sha256(($1 || n)::bytea), $2 FROM generate_series(1, 196) AS n`,
      [by.actor.accountId, GROUP],
    );
    const ends = await Promise.allSettled(Array.from({ length: 6 }, () => create(by)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const end of ends)
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'conflict' });
  });

  it('is created for no account whose deletion somebody asks for meanwhile', async () => {
    const by = await owner();
    const { accountId } = by.actor;
    // As a deletion does, before it revokes the keys that are there.
    const sql = `WITH locked AS (SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE)
      UPDATE accounts SET closing_at = now() WHERE id = $1 AND EXISTS (SELECT FROM locked)`;
    const byOperator = () => createKey(ledger.billing, { accountId, name: 'late', group: GROUP });
    const creators = [() => create(by), () => keys.first(by, { name: 'first', group: GROUP }), byOperator];
    await ledger.owner.query('UPDATE api_keys SET revoked_at = now() WHERE account_id = $1', [accountId]);
    const attempts = creators.map((begin) => () => begin().catch((error: unknown) => error));
    const ends = await meetAt(ledger, { sql, values: [accountId] }, attempts);
    expect(ends).toMatchObject(creators.map(() => ({ code: 'account_closing' })));
  });

  it('of another account is treated as if it did not exist', async () => {
    const { key } = await create(await owner());
    const stranger = await owner();
    for (const ask of [
      () => keys.find(stranger.actor.accountId, key.id),
      () => keys.change(stranger, key.id, { name: 'mine' }),
      () => keys.remove(stranger, key.id),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'not_found' });
    expect((await keys.find(key.accountId, key.id)).name).toBe('a key');
  });

  it('is deleted once by two at once, and gateways are notified once', async () => {
    const by = await owner();
    const { key } = await create(by);
    const ends = await Promise.allSettled([keys.remove(by, key.id), keys.remove(by, key.id)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(keys.change(by, key.id, { name: 'again' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await announced(key.id)).toBe(1);
  });

  it('keeps what a change does not name, and a change of nothing is neither announced nor logged', async () => {
    const by = await owner();
    const { key } = await create(by);
    await keys.change(by, key.id, { monthlyLimit: 5n });
    const changed = await keys.change(by, key.id, { allowedModels: ['imgmodel-4'] });
    expect(changed).toMatchObject({ name: 'a key', monthlyLimit: 5n, allowedModels: ['imgmodel-4'] });
    await keys.change(by, key.id, {});
    await keys.change(by, key.id, { monthlyLimit: 5n, allowedModels: ['imgmodel-4'], expiresAt: null });
    expect(await announced(key.id)).toBe(2);
    expect(await actionsOn(ledger, `key:${key.id}`)).toEqual(['key.created', 'key.changed', 'key.changed']);
  });

  it('is changed at most a thousand times in a day, but can still be deleted', async () => {
    const by = await owner();
    const { key } = await create(by);
    await keys.change(by, key.id, { monthlyLimit: 5n });
    await ledger.owner.query('UPDATE attempts SET count = 1000');
    await expect(keys.change(by, key.id, { monthlyLimit: 6n })).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringContaining('at most 1000 changes of settings in 24 hours'),
    });
    await keys.remove(by, key.id);
  });

  it('cannot have a past expiry or an unknown model', async () => {
    const by = await owner();
    const { key } = await create(by);
    const expiresAt = new Date(clock.nowMs());
    await expect(keys.change(by, key.id, { expiresAt })).rejects.toMatchObject({ param: 'expiresAt' });
    const allowedModels = ['imgmodel-4', 'none'];
    await expect(keys.change(by, key.id, { allowedModels })).rejects.toMatchObject({
      param: 'allowedModels',
    });
    expect(await announced(key.id)).toBe(0);
  });
});
