import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { findAccount, insertAccount, isClosing } from './account.store.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());

const insert = (name: string) => inTransaction(ledger.billing, (client) => insertAccount(client, name));

it('stores an account with its name and a unique invite code', async () => {
  const [first, second] = [await insert('  A house  '), await insert('A house')];
  expect(await findAccount(ledger.billing, first)).toEqual({
    id: first,
    name: 'A house',
    createdAt: expect.any(Date),
  });
  expect(await findAccount(ledger.billing, 'nobody')).toBeNull();
  const { rows } = await ledger.owner.query<{ codes: number }>(
    'SELECT count(DISTINCT invite_code)::int AS codes FROM accounts WHERE id IN ($1, $2)',
    [first, second],
  );
  expect(rows).toEqual([{ codes: 2 }]);
});

it('accepts no name that is empty or too long', async () => {
  for (const name of [' ', '\u2060\u115f'])
    await expect(insert(name)).rejects.toMatchObject({ code: 'invalid_name' });
  await expect(insert('x'.repeat(1_000))).rejects.toMatchObject({ code: 'invalid_name' });
});

it('closes as soon as its deletion is requested', async () => {
  const id = await insert('leaving');
  expect(await isClosing(ledger.billing, id)).toBe(false);
  await ledger.owner.query('UPDATE accounts SET closing_at = now() WHERE id = $1', [id]);
  expect(await isClosing(ledger.billing, id)).toBe(true);
  expect(await isClosing(ledger.billing, 'nobody')).toBe(false);
});
