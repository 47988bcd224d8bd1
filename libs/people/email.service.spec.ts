import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../test/support/audit.js';
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
import { meetAt, race } from '../../test/support/race.js';
import { staffActor } from '../../test/support/staff.js';
import { AccountService } from './accounts/account.service.js';
import { RolesService } from './roles.service.js';

let people: PeopleFixture;
let admin: Actor;

beforeAll(async () => {
  people = await openPeople({ MAILS_PER_EMAIL: '5', MAILS_PER_ADDRESS: '6' });
  admin = await staffActor(people.ledger, 'admin');
});
afterAll(() => people.close());

function request(actor: Actor, email: string, of: { password?: string; origin?: string } = {}) {
  const { password = PASSWORD, origin = newOrigin().ip } = of;
  return people.emails.request(actor, { email, password }, { ip: origin, userAgent: null });
}

/** The token that a request mails to the new address. */
async function requested(actor: Actor, email: string): Promise<string> {
  await request(actor, email);
  return mailedToken(people, email);
}

function confirm(token: string) {
  return people.emails.confirm(token, newId());
}

async function addressOf({ userId }: Actor): Promise<string> {
  const { rows } = await people.ledger.owner.query<{ email: string }>(
    'SELECT email FROM users WHERE id = $1',
    [userId],
  );
  return rows[0]!.email;
}

type Someone = Awaited<ReturnType<typeof signedUp>>;

async function resetPassword(email: string): Promise<void> {
  await people.passwords.requestReset(email, newOrigin());
  const token = await mailedToken(people, email);
  await people.passwords.reset({ token, password: `${PASSWORD} too` }, newOrigin(), newId());
}

function changePassword(actor: Actor): Promise<void> {
  const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD} too` };
  return people.passwords.change(actor, change, newId());
}

/** Staff do something to a person. */
function byStaff({ userId, accountId }: Actor) {
  return { by: `user:${admin.userId}`, actor: admin, userId, accountId, requestId: newId() };
}

const accounts = () => new AccountService(people.ledger.billing);
const roles = () => new RolesService(people.ledger.billing);

describe('another e-mail address', () => {
  it('takes effect through the link, which is reported to the old address', async () => {
    const { actor, email } = await signedUp(people);
    const wanted = newEmail();
    const token = await requested(actor, wanted);
    expect(await addressOf(actor)).toBe(email);
    expect(await confirm(token)).toEqual({ email: wanted });
    expect(await addressOf(actor)).toBe(wanted);
    expect((await lastMail(people, email))?.text).toContain(wanted);
    expect(await actionsOn(people.ledger, `user:${actor.userId}`)).toContain('email.changed');
    const credentials = { email: wanted, password: PASSWORD };
    expect(await people.signIns.signIn(credentials, newOrigin())).toHaveProperty('token');
  });

  it('works once for a link that is used twice at once', async () => {
    const { actor } = await signedUp(people);
    const token = await requested(actor, newEmail());
    expect(await race([confirm(token), confirm(token)])).toEqual({
      succeeded: 1,
      refused: ['invalid_value'],
    });
    await expect(confirm(token)).rejects.toMatchObject(deadLink);
  });

  it('goes to one of two people who confirm it at once', async () => {
    const [one, two] = [await signedUp(people), await signedUp(people)];
    const wanted = newEmail();
    const tokens = [await requested(one.actor, wanted), await requested(two.actor, wanted)];
    expect(await race(tokens.map(confirm))).toEqual({ succeeded: 1, refused: ['invalid_value'] });
    const now = await Promise.all([addressOf(one.actor), addressOf(two.actor)]);
    expect(now.filter((email) => email === wanted)).toHaveLength(1);
  });

  it('through one of several links ends the others, and the links for a password', async () => {
    const { actor, email } = await signedUp(people);
    const [first, second] = [await requested(actor, newEmail()), await requested(actor, newEmail())];
    await people.passwords.requestReset(email, newOrigin());
    const resetLink = await mailedToken(people, email);
    await confirm(second);
    await expect(confirm(first)).rejects.toMatchObject(deadLink);
    const reset = { token: resetLink, password: `${PASSWORD} too` };
    await expect(people.passwords.reset(reset, newOrigin(), newId())).rejects.toMatchObject(deadLink);
  });

  it.each<[string, (someone: Someone) => Promise<unknown>]>([
    ['a password reset', ({ email }) => resetPassword(email)],
    ['a password change', ({ actor }) => changePassword(actor)],
    [
      'the end of the other sessions',
      ({ actor }) => people.sessions.revokeAll(actor.userId, actor.sessionId),
    ],
    ['the end of all sessions', ({ actor }) => people.sessions.revokeAll(actor.userId, null)],
    ['staff who end the sessions', ({ actor }) => accounts().revokeSessions(byStaff(actor))],
    ['staff who remove the device', ({ actor }) => roles().removeTotp(byStaff(actor))],
    [
      'staff who block sign-in, even for a while',
      async ({ actor }) => {
        await roles().setDisabled(byStaff(actor), true);
        await roles().setDisabled(byStaff(actor), false);
      },
    ],
  ])('is withdrawn by %s', async (_what, withdraw) => {
    const someone = await signedUp(people);
    const token = await requested(someone.actor, newEmail());
    await withdraw(someone);
    await expect(confirm(token)).rejects.toMatchObject(deadLink);
    expect(await addressOf(someone.actor)).toBe(someone.email);
  });

  it('is not confirmed by an expired link, nor by someone who may not sign in', async () => {
    const { actor, email } = await signedUp(people);
    const token = await requested(actor, newEmail());
    const { owner } = people.ledger;
    await owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [actor.userId]);
    await expect(confirm(token)).rejects.toMatchObject(deadLink);
    await owner.query('UPDATE users SET disabled_at = NULL WHERE id = $1', [actor.userId]);
    await owner.query('UPDATE email_changes SET expires_at = now() WHERE user_id = $1', [actor.userId]);
    await expect(confirm(token)).rejects.toMatchObject(deadLink);
    expect(await addressOf(actor)).toBe(email);
  });
});

describe('a request for another e-mail address', () => {
  it('needs the password, and an address other than the current one', async () => {
    const { actor, email } = await signedUp(people);
    const wanted = newEmail();
    const wrong = request(actor, wanted, { password: 'a guess' });
    await expect(wrong).rejects.toMatchObject({ code: 'forbidden', param: 'password' });
    await expect(request(actor, email)).rejects.toMatchObject({ code: 'invalid_value', param: 'email' });
    expect(await lastMail(people, wanted)).toBeNull();
  });

  it.each([
    ['the password changes', 'UPDATE users SET password_hash = $2 WHERE id = $1'],
    ['the session ends', 'UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND $2 <> id'],
  ])('is refused if %s meanwhile', async (_what, sql) => {
    const { actor } = await signedUp(people);
    const hold = { sql, values: [actor.userId, 'another'] };
    const ends = await meetAt(people.ledger, hold, [() => race([request(actor, newEmail())])]);
    expect(ends).toEqual([{ succeeded: 0, refused: ['conflict'] }]);
  });

  it('answers the same for someone else’s address, whose mail has no link', async () => {
    const [{ actor }, other] = [await signedUp(people), await signedUp(people)];
    expect(await request(actor, other.email)).toBeUndefined();
    expect((await lastMail(people, other.email))?.text).not.toContain('#token=');
  });

  it('mails a limited number of times to one address, and from one network address', async () => {
    const { actor } = await signedUp(people);
    const wanted = newEmail();
    const toOne = Array.from({ length: 7 }, () => request(actor, wanted));
    expect((await race(toOne)).succeeded).toBe(5);
    const origin = newOrigin().ip;
    const fromOne = Array.from({ length: 8 }, () => request(actor, newEmail(), { origin }));
    expect((await race(fromOne)).succeeded).toBe(6);
  });
});
