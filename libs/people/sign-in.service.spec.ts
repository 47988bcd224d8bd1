import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import {
  doneToday,
  enrolled,
  mailedToken,
  newEmail,
  newOrigin,
  openPeople,
  PASSWORD,
  type PeopleFixture,
  signedUp,
} from '../../test/support/people.js';
import type { Credentials } from './sign-in.service.js';

let people: PeopleFixture;

beforeAll(async () => {
  people = await openPeople({ SIGN_INS_PER_EMAIL: '4', SIGN_INS_PER_ADDRESS: '6', CODES_PER_DAY: '4' });
});
afterAll(() => people.close());

function signIn(credentials: Partial<Credentials> & { email: string }, origin = newOrigin()) {
  return people.signIns.signIn({ password: PASSWORD, ...credentials }, origin);
}

/** What a client learns from a refusal. */
async function refusalOf(refused: Promise<unknown>): Promise<{ code: string; message: string }> {
  const { code, message } = (await refused.catch((error: unknown) => error)) as {
    code: string;
    message: string;
  };
  return { code, message };
}

describe('signing in', () => {
  it('opens a session for the right password', async () => {
    const { email, actor } = await signedUp(people);
    const { token } = await signIn({ email });
    expect(await people.sessions.find(token)).toMatchObject({ actor: { userId: actor.userId } });
  });

  it('answers the same for an unknown address, a wrong password and someone who may not sign in', async () => {
    const [{ email }, banned] = [await signedUp(people), await signedUp(people)];
    await people.ledger.owner.query('UPDATE users SET disabled_at = now() WHERE email = $1', [banned.email]);
    const wrong = await refusalOf(signIn({ email, password: 'another password of mine' }));
    expect(wrong.code).toBe('sign_in_failed');
    expect(await refusalOf(signIn({ email: newEmail() }))).toEqual(wrong);
    expect(await refusalOf(signIn({ email: banned.email }))).toEqual(wrong);
  });

  it('checks a limited number of passwords per address, at once and from everywhere, known or not', async () => {
    for (const email of [(await signedUp(people)).email, newEmail()]) {
      const guess = () => refusalOf(signIn({ email, password: 'a guess of somebody' }));
      const refusals = (await Promise.all(Array.from({ length: 7 }, guess))).map(({ code }) => code);
      expect(refusals.filter((code) => code === 'sign_in_failed')).toHaveLength(4);
      expect(refusals.filter((code) => code === 'too_many_attempts')).toHaveLength(3);
      expect((await refusalOf(signIn({ email }))).code).toBe('too_many_attempts');
    }
  });

  it('forgets the attempts at an address once its owner is in', async () => {
    const { email } = await signedUp(people);
    for (let round = 0; round < 2; round += 1) {
      for (let tries = 0; tries < 3; tries += 1)
        expect((await refusalOf(signIn({ email, password: 'mistyped it again' }))).code).toBe(
          'sign_in_failed',
        );
      await signIn({ email });
    }
  });

  it('counts a network address’s failures, but not its successes', async () => {
    const { email } = await signedUp(people);
    const office = newOrigin();
    for (let count = 0; count < 8; count += 1) await signIn({ email }, office);
    for (let count = 0; count < 6; count += 1)
      expect((await refusalOf(signIn({ email: newEmail() }, office))).code).toBe('sign_in_failed');
    expect((await refusalOf(signIn({ email: newEmail() }, office))).code).toBe('too_many_attempts');
  });

  it('succeeds at most a thousand times in a day, since each is logged, or until the password is reset', async () => {
    const { email, actor } = await signedUp(people);
    await doneToday(people, actor, { times: 999, what: 'sign-ins' });
    await signIn({ email });
    const limit = 'at most 1000 sign-ins in 24 hours';
    await expect(signIn({ email })).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringContaining(limit),
    });
    await people.passwords.requestReset(email, newOrigin());
    const token = await mailedToken(people, email);
    const password = 'nine herons over the weir';
    await people.passwords.reset({ token, password }, newOrigin(), newId());
    expect(await signIn({ email, password })).toHaveProperty('token');
  });

  it('opens no session if the password was replaced while it was being compared', async () => {
    const { email } = await signedUp(people);
    const client = await people.ledger.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query(`UPDATE users SET password_hash = 'none' WHERE email = $1`, [email]);
      const late = refusalOf(signIn({ email }));
      await people.passwords.requestReset(email, newOrigin());
      await client.query('COMMIT');
      expect((await late).code).toBe('sign_in_failed');
    } finally {
      client.release();
    }
  });
});

describe('with an enrolled device', () => {
  it('its code is requested after the password, and works once, even at the same moment', async () => {
    const { email, actor } = await signedUp(people);
    const { next } = await enrolled(people, actor);
    expect((await refusalOf(signIn({ email }))).code).toBe('totp_required');
    const code = next();
    const ends = await Promise.allSettled([signIn({ email, code }), signIn({ email, code })]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await refusalOf(signIn({ email, code }))).code).toBe('sign_in_failed');
    expect(await signIn({ email, code: next() })).toHaveProperty('token');
  });

  it('only the right password reveals that a device is enrolled', async () => {
    const { email, actor } = await signedUp(people);
    await enrolled(people, actor);
    const wrong = await refusalOf(signIn({ email, password: 'not the right one' }));
    expect(wrong).toEqual(await refusalOf(signIn({ email: newEmail() })));
  });

  it('a recovery code works once, however it is typed', async () => {
    const { email, actor } = await signedUp(people);
    const { recovery } = await enrolled(people, actor);
    const code = recovery[0]!.toUpperCase().replaceAll('-', ' ');
    await signIn({ email, code });
    expect((await refusalOf(signIn({ email, code: recovery[0] }))).code).toBe('sign_in_failed');
    expect(await people.totp.state(actor)).toEqual({ enabled: true, recoveryCodesLeft: 9 });
  });

  it('a limited number of codes is checked, and a recovery code still lets the owner in', async () => {
    const { email, actor } = await signedUp(people);
    const { next, recovery } = await enrolled(people, actor);
    // The enrolment used one of the four attempts.
    for (let tries = 0; tries < 3; tries += 1)
      expect((await refusalOf(signIn({ email, code: '000000' }))).code).toBe('sign_in_failed');
    expect((await refusalOf(signIn({ email, code: next() }))).code).toBe('too_many_attempts');
    // By now the password's attempts are used up too. Its link makes it forget them.
    await people.passwords.requestReset(email, newOrigin());
    const reset = { token: await mailedToken(people, email), password: `${PASSWORD} again` };
    const { token } = await people.passwords.reset({ ...reset, code: recovery[0] }, newOrigin(), newId());
    expect(await people.sessions.find(token)).not.toBeNull();
  });
});
