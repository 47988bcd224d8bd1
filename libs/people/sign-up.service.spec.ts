import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBalance } from '#ledger/postings/customer-account.js';
import {
  deadLink,
  lastMail,
  mailedToken,
  newEmail,
  newOrigin,
  openPeople,
  PASSWORD,
  type PeopleFixture,
  signedUp,
} from '../../test/support/people.js';

let people: PeopleFixture;

beforeAll(async () => {
  people = await openPeople({ MAILS_PER_EMAIL: '5', MAILS_PER_ADDRESS: '8' });
});
afterAll(() => people.close());

async function accountsOf(email: string): Promise<string[]> {
  const { rows } = await people.ledger.owner.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM users WHERE email = $1',
    [email],
  );
  return rows.map(({ accountId }) => accountId);
}

async function inviteCodeOf(accountId: string): Promise<string> {
  const { rows } = await people.ledger.owner.query<{ code: string }>(
    'SELECT invite_code AS code FROM accounts WHERE id = $1',
    [accountId],
  );
  return rows[0]!.code;
}

function confirm(token: string, password = PASSWORD) {
  return people.signUps.confirm({ token, password }, newOrigin());
}

describe('signing up', () => {
  it('creates nothing but a mail until its link is used, and then an empty account and a session', async () => {
    const email = newEmail();
    await people.signUps.request({ email }, newOrigin());
    expect(await accountsOf(email)).toEqual([]);
    const session = await confirm(await mailedToken(people, email));
    expect(await people.sessions.find(session.token)).toMatchObject({ actor: { email, roles: ['user'] } });
    const [accountId] = await accountsOf(email);
    expect(await readBalance(people.ledger.billing, accountId!)).toMatchObject({ main: 0n, held: 0n });
  });

  it('answers the same for an address that has an account, and only its mail says so, without a link', async () => {
    const { email } = await signedUp(people);
    const origin = newOrigin();
    const answers = [
      await people.signUps.request({ email }, origin),
      await people.signUps.request({ email: newEmail() }, origin),
    ];
    expect(answers).toEqual([undefined, undefined]);
    expect((await lastMail(people, email))?.text).not.toContain('#token=');
  });

  it('opens one account for a link that is used twice at once, and none if it is used again', async () => {
    const email = newEmail();
    await people.signUps.request({ email }, newOrigin());
    const token = await mailedToken(people, email);
    const ends = await Promise.allSettled([confirm(token), confirm(token)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: deadLink });
    await expect(confirm(token)).rejects.toMatchObject(deadLink);
    expect(await accountsOf(email)).toHaveLength(1);
  });

  it('opens one account for two links to one address at once', async () => {
    const email = newEmail();
    const tokens: string[] = [];
    for (let mail = 0; mail < 2; mail += 1) {
      await people.signUps.request({ email }, newOrigin());
      tokens.push(await mailedToken(people, email));
    }
    const ends = await Promise.allSettled(tokens.map((token) => confirm(token)));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: deadLink });
    expect(await accountsOf(email)).toHaveLength(1);
  });

  it('accepts no weak password and no expired link, and a weak one leaves the link usable', async () => {
    const email = newEmail();
    await people.signUps.request({ email }, newOrigin());
    const token = await mailedToken(people, email);
    await expect(confirm(token, 'password1234')).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'password',
    });
    await people.ledger.owner.query('UPDATE sign_ups SET expires_at = now() WHERE email = $1', [email]);
    await expect(confirm(token)).rejects.toMatchObject(deadLink);
    await expect(confirm('made-up')).rejects.toMatchObject(deadLink);
    expect(await accountsOf(email)).toEqual([]);
  });

  it('records who invited the person, and refuses an unknown code', async () => {
    const { actor } = await signedUp(people);
    const code = await inviteCodeOf(actor.accountId);
    const email = newEmail();
    const unknown = people.signUps.request({ email, inviteCode: 'no-such-code' }, newOrigin());
    await expect(unknown).rejects.toMatchObject({ code: 'invalid_value', param: 'inviteCode' });
    expect(await lastMail(people, email)).toBeNull();
    await people.signUps.request({ email, inviteCode: ` ${code.toUpperCase()} ` }, newOrigin());
    await confirm(await mailedToken(people, email));
    const { rows } = await people.ledger.owner.query(
      `SELECT inviter_account_id AS inviter FROM invitations i JOIN users u ON u.account_id = i.invitee_account_id
       WHERE u.email = $1`,
      [email],
    );
    expect(rows).toEqual([{ inviter: actor.accountId }]);
  });

  it('mails one address a limited number of times, even if requested from many places at once', async () => {
    const email = newEmail();
    const ask = () => people.signUps.request({ email }, newOrigin());
    const ends = await Promise.allSettled(Array.from({ length: 8 }, ask));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_attempts' });
  });

  it('is left to someone whose address others requested new passwords for', async () => {
    const email = newEmail();
    for (let mails = 0; mails < 5; mails += 1) await people.passwords.requestReset(email, newOrigin());
    await people.signUps.request({ email }, newOrigin());
    expect(await confirm(await mailedToken(people, email))).toHaveProperty('token');
  });

  it('mails only so often for one network address, no matter who is named', async () => {
    const origin = newOrigin();
    const ask = () => people.signUps.request({ email: newEmail() }, origin);
    for (let count = 0; count < 8; count += 1) await ask();
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_attempts' });
  });
});
