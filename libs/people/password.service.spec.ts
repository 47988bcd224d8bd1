import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import {
  deadLink,
  doneToday,
  enrolled,
  lastMail,
  mailedToken,
  newEmail,
  newOrigin,
  openPeople,
  PASSWORD,
  type PeopleFixture,
  signedUp,
} from '../../test/support/people.js';

const OTHER = 'nine herons over the weir';

let people: PeopleFixture;

beforeAll(async () => {
  people = await openPeople({ SIGN_INS_PER_EMAIL: '4', MAILS_PER_EMAIL: '5' });
});
afterAll(() => people.close());

function signIn(email: string, password: string) {
  return people.signIns.signIn({ email, password }, newOrigin());
}

async function resetToken(email: string): Promise<string> {
  await people.passwords.requestReset(email, newOrigin());
  return mailedToken(people, email);
}

function reset(token: string, of: { password?: string; code?: string } = {}) {
  return people.passwords.reset({ token, password: OTHER, ...of }, newOrigin(), newId());
}

describe('a password reset', () => {
  it('answers the same whether or not the address exists, and mails nothing if it does not', async () => {
    const { email } = await signedUp(people);
    const nobody = newEmail();
    expect(await people.passwords.requestReset(email, newOrigin())).toBeUndefined();
    expect(await people.passwords.requestReset(nobody, newOrigin())).toBeUndefined();
    expect(await lastMail(people, nobody)).toBeNull();
    for (let count = 0; count < 4; count += 1) await people.passwords.requestReset(nobody, newOrigin());
    await expect(people.passwords.requestReset(nobody, newOrigin())).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
  });

  it('ends every session but the one that it opens, and invalidates the previous password', async () => {
    const { email, session } = await signedUp(people);
    const opened = await reset(await resetToken(email));
    expect(await people.sessions.find(session.token)).toBeNull();
    expect(await people.sessions.find(opened.token)).not.toBeNull();
    await expect(signIn(email, PASSWORD)).rejects.toMatchObject({ code: 'sign_in_failed' });
    expect(await signIn(email, OTHER)).toHaveProperty('token');
    expect((await lastMail(people, email))?.text).toContain('was changed');
  });

  it('works once for a link that is used twice at once', async () => {
    const { email } = await signedUp(people);
    const token = await resetToken(email);
    const ends = await Promise.allSettled([reset(token), reset(token, { password: `${OTHER} too` })]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: deadLink });
    await expect(reset(token)).rejects.toMatchObject(deadLink);
  });

  it('works with one of several links, before it expires, and only for people who may sign in', async () => {
    const { email, actor } = await signedUp(people);
    const [earlier, later] = [await resetToken(email), await resetToken(email)];
    const setPerson = (text: string) =>
      people.ledger.owner.query(`UPDATE users SET disabled_at = ${text} WHERE id = $1`, [actor.userId]);
    await setPerson('now()');
    await expect(reset(later)).rejects.toMatchObject(deadLink);
    await setPerson('NULL');
    expect(await reset(later)).toHaveProperty('token');
    await expect(reset(earlier)).rejects.toMatchObject(deadLink);
    const last = await resetToken(email);
    await people.ledger.owner.query('UPDATE password_resets SET expires_at = now()');
    await expect(reset(last)).rejects.toMatchObject(deadLink);
  });

  it('accepts no weak password, and then leaves the link usable', async () => {
    const { email } = await signedUp(people);
    const token = await resetToken(email);
    await expect(reset(token, { password: email })).rejects.toMatchObject({ param: 'password' });
    expect(await reset(token)).toHaveProperty('token');
  });

  it('lets someone in at once who was locked out by others’ attempts', async () => {
    const { email } = await signedUp(people);
    for (let tries = 0; tries < 5; tries += 1)
      await signIn(email, 'a guess of somebody').catch(() => undefined);
    await expect(signIn(email, PASSWORD)).rejects.toMatchObject({ code: 'too_many_attempts' });
    await reset(await resetToken(email));
    expect(await signIn(email, OTHER)).toHaveProperty('token');
  });

  it('is left to someone whose address others requested all other mail for', async () => {
    const [{ email }, stranger] = [await signedUp(people), await signedUp(people)];
    const change = { email, password: PASSWORD };
    for (let mails = 0; mails < 5; mails += 1) {
      await people.signUps.request({ email }, newOrigin()).catch(() => undefined);
      await people.emails.request(stranger.actor, change, newOrigin());
    }
    expect(await reset(await resetToken(email))).toHaveProperty('token');
  });

  it.each([
    ['first', 0],
    ['last', 4],
  ])('works by the %s of the links that others requested until no more were left', async (_which, link) => {
    const { email } = await signedUp(people);
    const links: string[] = [];
    for (let mails = 0; mails < 5; mails += 1) links.push(await resetToken(email));
    await expect(resetToken(email)).rejects.toMatchObject({ code: 'too_many_attempts' });
    expect(await reset(links[link]!)).toHaveProperty('token');
  });

  it('asks for a code if a device is enrolled, and a wrong one leaves the link usable', async () => {
    const { email, actor } = await signedUp(people);
    const { next } = await enrolled(people, actor);
    const token = await resetToken(email);
    await expect(reset(token)).rejects.toMatchObject({ code: 'totp_required' });
    await expect(reset(token, { code: '000000' })).rejects.toMatchObject({ code: 'sign_in_failed' });
    expect(await reset(token, { code: next() })).toHaveProperty('token');
  });
});

describe('a password change', () => {
  const change = (of: Partial<{ currentPassword: string; newPassword: string }> = {}) => ({
    currentPassword: PASSWORD,
    newPassword: OTHER,
    ...of,
  });

  it('happens at most twenty times in a day, since each is logged and mailed', async () => {
    const { actor, email } = await signedUp(people);
    const change = (currentPassword: string, newPassword: string) =>
      people.passwords.change(actor, { currentPassword, newPassword }, newId());
    await doneToday(people, actor, { times: 19, what: 'changes of password and second factor' });
    await change(PASSWORD, OTHER);
    const limit = 'at most 20 changes of password and second factor in 24 hours';
    await expect(change(OTHER, PASSWORD)).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringContaining(limit),
    });
    expect(await signIn(email, OTHER)).toHaveProperty('token');
    await reset(await resetToken(email), { password: PASSWORD });
    expect(await signIn(email, PASSWORD)).toHaveProperty('token');
  });

  it('ends all other sessions and keeps this one', async () => {
    const { email, actor, session } = await signedUp(people);
    const other = await signIn(email, PASSWORD);
    await people.passwords.change(actor, change(), newId());
    expect(await people.sessions.find(session.token)).not.toBeNull();
    expect(await people.sessions.find(other.token)).toBeNull();
  });

  it('is refused if it meets another one', async () => {
    const { email, actor } = await signedUp(people);
    const ends = await Promise.allSettled([
      people.passwords.change(actor, change(), newId()),
      people.passwords.change(actor, change({ newPassword: `${OTHER} too` }), newId()),
    ]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const isFirst = ends[0].status === 'fulfilled';
    expect(await signIn(email, isFirst ? OTHER : `${OTHER} too`)).toHaveProperty('token');
  });

  it('needs the previous password, and checks only so many guesses', async () => {
    const { actor } = await signedUp(people);
    const guess = () => people.passwords.change(actor, change({ currentPassword: 'a guess' }), newId());
    for (let tries = 0; tries < 4; tries += 1)
      await expect(guess()).rejects.toMatchObject({ code: 'forbidden', param: 'currentPassword' });
    await expect(guess()).rejects.toMatchObject({ code: 'too_many_attempts' });
  });
});
