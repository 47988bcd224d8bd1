import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBalance } from '#ledger/postings/customer-account.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../../test/support/audit.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { race } from '../../../test/support/race.js';
import { type StaffMember, staffMember } from '../../../test/support/staff.js';
import {
  createCustomer,
  createKey,
  grantAccountGroup,
  limitCustomerKey,
  revokeCustomerKey,
  withdrawAccountGroup,
} from './customers.js';

const CLOSED = 'Reserved';

let ledger: LedgerFixture;
let admin: StaffMember;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  await ledger.owner.query('INSERT INTO groups (name, open) VALUES ($1, false)', [CLOSED]);
  admin = await staffMember(ledger, 'admin');
});
afterAll(() => ledger.close());

function doer(actor: StaffMember | null = admin) {
  return { by: actor ? `user:${actor.userId}` : 'cli:root', actor };
}

function newCustomer(of: { group?: string; makerId?: string } = {}) {
  return createCustomer(ledger.billing, { name: 'Atelier', group: 'Vendora-Main', ...of });
}

/** How many messages make gateways forget a key. */
async function announcedOf(keyId: string): Promise<number> {
  const { rows } = await ledger.owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM outbox WHERE payload::text LIKE '%' || $1 || '%'`,
    [keyId],
  );
  return rows[0]!.count;
}

const own = { code: 'second_person_required' };

describe('a customer', () => {
  it('begins empty, with a key', async () => {
    const { accountId, keyId } = await newCustomer();
    expect(await readBalance(ledger.billing, accountId)).toMatchObject({ main: 0n, held: 0n, invite: 0n });
    expect(await actionsOn(ledger, `account:${accountId}`)).toEqual(['account.created']);
    expect(await revokeCustomerKey(ledger.billing, keyId)).toMatchObject({ accountId });
  });

  it('is created completely or not at all', async () => {
    const count = async () => (await ledger.owner.query('SELECT FROM accounts')).rowCount;
    const before = await count();
    await expect(newCustomer({ group: 'No-Such' })).rejects.toThrow();
    // Only someone other than the account's creator may grant a group that is not open.
    await expect(newCustomer({ group: CLOSED, makerId: admin.userId })).rejects.toMatchObject(own);
    expect(await count()).toBe(before);
    const { accountId } = await newCustomer({ group: CLOSED });
    expect(await createKey(ledger.billing, { accountId, group: CLOSED, name: 'second' })).toHaveProperty(
      'apiKey',
    );
  });

  it('is decided about by someone other than its creator', async () => {
    const { accountId, keyId } = await newCustomer({ makerId: admin.userId });
    const of = { accountId, group: CLOSED };
    const limits = { requestsPerMinute: 1 };
    const attempts = [
      createKey(ledger.billing, { accountId, group: 'Vendora-Main', name: 'x' }, doer()),
      revokeCustomerKey(ledger.billing, keyId, doer()),
      limitCustomerKey(ledger.billing, { keyId, limits }, doer()),
      grantAccountGroup(ledger.billing, of, doer()),
      withdrawAccountGroup(ledger.billing, of, doer()),
    ];
    await Promise.all(attempts.map((refused) => expect(refused).rejects.toMatchObject(own)));
    expect(await announcedOf(keyId)).toBe(0);
    expect(await actionsOn(ledger, `key:${keyId}`)).toEqual([]);
  });
});

describe('a customer’s key', () => {
  it('is revoked and limited for every gateway, and logged', async () => {
    const { keyId } = await newCustomer();
    const limits = { requestsPerMinute: 7 };
    expect(await limitCustomerKey(ledger.billing, { keyId, limits }, doer())).toMatchObject(limits);
    await revokeCustomerKey(ledger.billing, keyId, doer());
    expect(await announcedOf(keyId)).toBe(2);
    expect(await actionsOn(ledger, `key:${keyId}`)).toEqual(['key.changed', 'key.deleted']);
  });

  it('is refused if it does not exist', async () => {
    await expect(revokeCustomerKey(ledger.billing, newId())).rejects.toThrow();
    await expect(limitCustomerKey(ledger.billing, { keyId: newId(), limits: {} })).rejects.toThrow();
  });
});

describe('a group that is not open', () => {
  it('is granted and withdrawn once, even by two at once, and logged once', async () => {
    const { accountId } = await newCustomer();
    const of = { accountId, group: CLOSED };
    const both = (work: typeof grantAccountGroup) =>
      Promise.all([work(ledger.billing, of, doer()), work(ledger.billing, of, doer(null))]);
    expect((await both(grantAccountGroup)).sort()).toEqual([false, true]);
    const key = { accountId, group: CLOSED, name: 'of the group' };
    expect(await createKey(ledger.billing, key, doer())).toHaveProperty('keyId');
    expect((await both(withdrawAccountGroup)).sort()).toEqual([false, true]);
    expect(await race([createKey(ledger.billing, key, doer())])).toMatchObject({ succeeded: 0 });
    expect(await actionsOn(ledger, `account:${accountId}`)).toEqual([
      'account.created',
      'group.granted',
      'group.withdrawn',
    ]);
  });

  it('and an account must exist', async () => {
    const { accountId } = await newCustomer();
    const grant = (of: { accountId: string; group: string }) => grantAccountGroup(ledger.billing, of, doer());
    await expect(grant({ accountId, group: 'No-Such' })).rejects.toThrow('No-Such');
    await expect(grant({ accountId: newId(), group: CLOSED })).rejects.toThrow();
  });
});
