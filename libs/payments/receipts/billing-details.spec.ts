import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { enterBillingDetails, NO_DETAILS } from './billing-details.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());

it('is entered at most a thousand times in a day, and a repeat of the same does not count', async () => {
  const { accountId } = await ledger.account({ credits: '0' });
  const enter = (name: string) =>
    enterBillingDetails(
      ledger.billing,
      { accountId, by: 'user:a', requestId: newId() },
      { ...NO_DETAILS, name },
    );
  await enter('First');
  await ledger.owner.query('UPDATE attempts SET count = 999');
  await enter('First');
  await enter('Second');
  await expect(enter('Third')).rejects.toMatchObject({ code: 'too_many_attempts' });
  const { rows } = await ledger.owner.query<{ name: string }>('SELECT name FROM billing_details ORDER BY id');
  expect(rows.map(({ name }) => name)).toEqual(['First', 'Second']);
});
