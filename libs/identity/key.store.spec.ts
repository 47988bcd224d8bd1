import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { grantGroup } from '#groups/account-groups.js';
import { inTransaction } from '#database/database.js';
import { hashApiKey } from '#platform/ids.js';
import { until } from '../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { type CreatedKey, insertKey, KEY_PREFIX_CHARS, limitKey, listKeys, revokeKey } from './key.store.js';

const CLOSED = 'By-Invitation';

let ledger: LedgerFixture;
let accountId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  await ledger.owner.query('INSERT INTO groups (name, open) VALUES ($1, false)', [CLOSED]);
});
afterAll(() => ledger.close());
beforeEach(async () => {
  ({ accountId } = await ledger.account({ credits: '0' }));
});

function insert(of: { name?: string; group?: string; accountId?: string } = {}): Promise<CreatedKey> {
  const key = { accountId, name: 'a key', group: 'Vendora-Main', ...of };
  return inTransaction(ledger.billing, (client) => insertKey(client, key));
}

const revoke = (keyId: string) => inTransaction(ledger.billing, (client) => revokeKey(client, keyId));
const limit = (keyId: string, limits: Parameters<typeof limitKey>[2]) =>
  inTransaction(ledger.billing, (client) => limitKey(client, keyId, limits));

describe('a new key', () => {
  it('is stored as its hash and its first characters, never as itself', async () => {
    const { keyId, apiKey } = await insert();
    const { rows } = await ledger.owner.query<{ hash: Buffer; prefix: string }>(
      'SELECT *, key_hash AS hash, key_prefix AS prefix FROM api_keys WHERE id = $1',
      [keyId],
    );
    expect(rows[0]!.hash).toEqual(hashApiKey(apiKey));
    expect(rows[0]!.prefix).toBe(apiKey.slice(0, KEY_PREFIX_CHARS));
    expect(inspect(rows)).not.toContain(apiKey);
  });

  it('needs an account, a group that is open or granted to it, and a name', async () => {
    await expect(insert({ accountId: 'nobody' })).rejects.toMatchObject({ code: 'account_not_found' });
    await expect(insert({ group: 'Nowhere' })).rejects.toMatchObject({ code: 'group_not_found' });
    for (const name of ['  ', '\u200b\u3164'])
      await expect(insert({ name })).rejects.toMatchObject({ code: 'invalid_name' });
    await expect(insert({ group: CLOSED })).rejects.toMatchObject({ code: 'group_not_granted' });
    expect(await listKeys(ledger.billing, accountId)).toHaveLength(1);
    await inTransaction(ledger.billing, (client) =>
      grantGroup(client, { accountId, group: CLOSED, by: 'user:x' }),
    );
    const { keyId } = await insert({ group: CLOSED });
    expect(await listKeys(ledger.billing, accountId)).toContainEqual({
      keyId,
      name: 'a key',
      group: CLOSED,
      revokedAt: null,
    });
  });
});

describe('a revocation', () => {
  it('is final: a repeat returns when it first happened', async () => {
    const { keyId } = await insert();
    const first = await revoke(keyId);
    expect(first).toEqual({ keyId, accountId, revokedAt: expect.any(Date) });
    expect(await revoke(keyId)).toEqual(first);
    await expect(revoke('nothing')).rejects.toMatchObject({ code: 'key_not_found' });
  });

  it('waits for a hold that is being decided, which has locked the balances', async () => {
    const { keyId } = await insert();
    const hold = await ledger.billing.connect();
    try {
      await hold.query('BEGIN');
      await hold.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [accountId]);
      const revoked = revoke(keyId);
      await until('the revocation to wait', async () => {
        const { rows } = await ledger.owner.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%customer_balances%'
             AND datname = current_database()`,
        );
        return rows.length === 1;
      });
      const { rows } = await hold.query('SELECT revoked_at AS at FROM api_keys WHERE id = $1', [keyId]);
      expect(rows).toEqual([{ at: null }]);
      await hold.query('COMMIT');
      expect((await revoked).revokedAt).toBeInstanceOf(Date);
    } finally {
      hold.release();
    }
  });
});

describe('key limits', () => {
  it('stay if omitted, and end if null', async () => {
    const { keyId } = await insert();
    expect(await limit(keyId, { requestsPerMinute: 5, runningTasks: 2 })).toEqual({
      accountId,
      requestsPerMinute: 5,
      runningTasks: 2,
    });
    expect(await limit(keyId, { runningTasks: null })).toMatchObject({
      requestsPerMinute: 5,
      runningTasks: null,
    });
    await expect(limit('nothing', {})).rejects.toMatchObject({ code: 'key_not_found' });
  });
});

it('lists only the account’s own keys, the oldest first, including revoked ones', async () => {
  const [first, second] = [await insert({ name: 'one' }), await insert({ name: 'two' })];
  await ledger.account({ credits: '0' });
  const { revokedAt } = await revoke(first.keyId);
  const [, ...made] = await listKeys(ledger.billing, accountId);
  expect(made).toMatchObject([
    { keyId: first.keyId, name: 'one', revokedAt },
    { keyId: second.keyId, name: 'two', revokedAt: null },
  ]);
});
