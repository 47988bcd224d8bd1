import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noteMaker } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { auditOf } from '../../../test/support/audit.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { meetAt } from '../../../test/support/race.js';
import { staffActor } from '../../../test/support/staff.js';
import { type AccountLimitsChange, readAccountLimits, setAccountLimits } from './account-limits.js';

let ledger: LedgerFixture;
let support: Actor;
let accountId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  support = await staffActor(ledger, 'support');
});
beforeEach(async () => {
  ({ accountId } = await ledger.account({ credits: '0' }));
});
afterAll(() => ledger.close());

function set(change: AccountLimitsChange, { id = accountId, actor = support } = {}) {
  const operation = { by: `user:${actor.userId}`, actor, accountId: id, requestId: newId() };
  return setAccountLimits(ledger.billing, operation, change);
}

describe('account limits', () => {
  it('change if they are named, even if two change them at once', async () => {
    const hold = {
      sql: 'SELECT FROM customer_balances b, accounts a WHERE a.id = $1 AND b.account_id = a.id FOR UPDATE',
      values: [accountId],
    };
    const changes = [{ requestsPerMinute: 60 }, { maxConcurrentRequests: 4 }];
    await meetAt(
      ledger,
      hold,
      changes.map((change) => () => set(change)),
    );
    const both = {
      requestsPerMinute: 60,
      tokensPerMinute: null,
      imagesPerMinute: null,
      maxConcurrentRequests: 4,
    };
    expect(await readAccountLimits(ledger.billing, accountId)).toEqual(both);
    expect(await set({ requestsPerMinute: null })).toEqual({ ...both, requestsPerMinute: null });
    const log = await auditOf(ledger, `account:${accountId}`);
    expect(log.slice(-1)).toMatchObject([{ action: 'account.limited', before: both }]);
    await set({ requestsPerMinute: null, maxConcurrentRequests: 4 });
    expect(await auditOf(ledger, `account:${accountId}`)).toEqual(log);
  });

  it('are set by someone who did not create the account', async () => {
    const client = await ledger.owner.connect();
    await noteMaker(client, { accountId, makerId: support.userId, how: 'created' });
    client.release();
    await expect(set({ requestsPerMinute: 1 })).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await readAccountLimits(ledger.billing, accountId)).toMatchObject({ requestsPerMinute: null });
  });

  it('can only be set for an existing account', async () => {
    await expect(set({}, { id: newId() })).rejects.toMatchObject({ code: 'not_found' });
    await expect(readAccountLimits(ledger.billing, newId())).rejects.toMatchObject({ code: 'not_found' });
  });
});
