import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { pagesRead } from '../../test/support/pages-read.js';
import { readInvites } from './invites.reader.js';

const DAY_MS = 86_400_000;
/** As many as are shown. */
const SHOWN = 1_000;

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

/** An account that invited this many others. */
async function inviter(invitees: number): Promise<string> {
  const { accountId } = await ledger.account({ credits: '1' });
  await ledger.owner.query(
    `WITH invited AS (
       INSERT INTO accounts (id, name) SELECT $1 || '-' || lpad(n::text, 5, '0'), 'invited' FROM generate_series(1, $2::int) AS n
       RETURNING id)
     INSERT INTO invitations (invitee_account_id, inviter_account_id, created_at)
     SELECT id, $1, now() - right(id, 5)::int * interval '1 second' FROM invited`,
    [accountId, invitees],
  );
  return accountId;
}

it('reads the rewards of the invited accounts that are shown, however many others there are', async () => {
  const [some, many] = [await inviter(SHOWN), await inviter(5 * SHOWN)];
  await ledger.owner.query('ANALYZE accounts, invitations, invite_rewards, reward_clawbacks');
  const read = (accountId: string) =>
    pagesRead(ledger.billing, async (pool) => {
      const { invitees } = await readInvites(pool, accountId, DAY_MS);
      expect(invitees).toHaveLength(SHOWN);
      expect(invitees.every(({ joinedAt }, at) => at === 0 || joinedAt >= invitees[at - 1]!.joinedAt)).toBe(
        true,
      );
    });
  expect(await read(many)).toBeLessThan(1.5 * (await read(some)));
});
