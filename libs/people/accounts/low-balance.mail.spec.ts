import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BalanceLow } from '#bus/payloads.js';
import { newId } from '#platform/ids.js';
import { openPeople, type PeopleFixture, signedUp } from '../../../test/support/people.js';
import { mailLowBalance } from './low-balance.mail.js';

const MOST = 20;

let people: PeopleFixture;
let accountId: string;
let to: string;

beforeAll(async () => {
  people = await openPeople();
  const { email, actor } = await signedUp(people);
  [to, accountId] = [email, actor.accountId];
});
afterAll(() => people.close());

function alert(): BalanceLow {
  return { alertId: newId(), accountId, balance: '0.5', threshold: '1', crossedAt: new Date().toISOString() };
}

function tell(low: BalanceLow): Promise<boolean> {
  return mailLowBalance(people.ledger.billing, low);
}

async function mails(): Promise<number> {
  const { rows } = await people.ledger.owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM mail_outbox WHERE recipient = $1 AND template = 'low_balance'`,
    [to],
  );
  return rows[0]!.count;
}

it('is queued for as many alerts as a day allows, though each comes several times, and first when no mail can be queued', async () => {
  const { owner } = people.ledger;
  const first = alert();
  await owner.query('ALTER TABLE mail_outbox RENAME TO mail_outbox_away');
  try {
    await expect(tell(first)).rejects.toThrow('mail_outbox');
  } finally {
    await owner.query('ALTER TABLE mail_outbox_away RENAME TO mail_outbox');
  }
  for (const low of [first, ...Array.from({ length: MOST - 1 }, alert)])
    expect((await Promise.all([tell(low), tell(low), tell(low)])).filter(Boolean)).toHaveLength(1);
  expect([await tell(alert()), await tell(first)]).toEqual([false, false]);
  expect(await mails()).toBe(MOST);
});
