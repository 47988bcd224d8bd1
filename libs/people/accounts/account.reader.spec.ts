import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { spend } from '../../../test/support/ledger-person.js';
import { staffActor } from '../../../test/support/staff.js';
import { AccountReader } from './account.reader.js';

let ledger: LedgerFixture;
let reader: AccountReader;
let accountId: string;
let keyId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  reader = new AccountReader(ledger.billing);
  ({ accountId, keyId } = await ledger.account({ credits: '10' }));
});
afterAll(() => ledger.close());

describe('accounts, when read', () => {
  it('show balances, and what all keys spent this month', async () => {
    const engine = new PostingEngine({
      pool: ledger.billing,
      loadPriceBook,
      log: ledger.log,
    });
    await spend(engine, { accountId, keyId }, 2n);
    await spend(engine, { accountId, keyId: await ledger.key(accountId) }, 1n);
    await engine.close();
    expect(await reader.show(accountId)).toMatchObject({
      balance: { main: '9.91', held: '0', invite: '0', refundPending: '0' },
      spentThisMonth: '0.09',
    });
    await expect(reader.show(newId())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are found by ID, by key, and by the beginning of a name or an address', async () => {
    const actor = await staffActor(ledger);
    const { email } = actor;
    const name = `Foundry ${newId()}`;
    await ledger.owner.query('UPDATE accounts SET name = $2 WHERE id = $1', [actor.accountId, name]);
    const found = async (query: string) =>
      (await reader.search({ query, limit: 5 })).items.map((each) => each.accountId);
    for (const query of [actor.accountId, actor.userId, email, email.slice(0, -6), name.toUpperCase()])
      expect(await found(query)).toEqual([actor.accountId]);
    expect(await found(keyId)).toEqual([accountId]);
    for (const query of ['_'.repeat(26), '%', name.slice(1)]) expect(await found(query)).toEqual([]);
  });

  it('end a search after a thousand of a name that most have', async () => {
    await ledger.owner.query(
      `WITH many AS (INSERT INTO accounts (id, name) SELECT 'many-' || n, 'Many' FROM generate_series(1, 1200) AS n RETURNING id)
       INSERT INTO customer_balances (account_id, main_ledger_id, held_ledger_id, invite_ledger_id, refund_pending_ledger_id)
       SELECT id, b.main_ledger_id, b.held_ledger_id, b.invite_ledger_id, b.refund_pending_ledger_id
       FROM many, customer_balances b WHERE b.account_id = $1`,
      [accountId],
    );
    const first = await reader.search({ query: 'many', limit: 900 });
    const second = await reader.search({ query: 'many', limit: 900, cursor: first.nextCursor! });
    expect([first.items.length, second.items.length, second.nextCursor]).toEqual([900, 100, null]);
    await ledger.owner.query(`DELETE FROM customer_balances WHERE account_id LIKE 'many-%'`);
  });

  it('are listed in pages of any size, newest first', async () => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { items, nextCursor } = await reader.search({ limit: 1, cursor });
      ids.push(...items.map((each) => each.accountId));
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    const { items } = await reader.search({ limit: 500 });
    expect(ids).toEqual(items.map((each) => each.accountId));
    expect(ids).toEqual([...ids].sort().reverse());
    expect(ids).toContain(accountId);
    expect(items.find((each) => each.accountId === accountId)).toMatchObject({
      main: parseAmount('9.91'),
      email: null,
      frozen: false,
    });
  });
});
