import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrolled, openPeople, PASSWORD, type PeopleFixture, signedUp } from '../../test/support/people.js';
import { race } from '../../test/support/race.js';

let people: PeopleFixture;

beforeAll(async () => {
  people = await openPeople({ SIGN_INS_PER_EMAIL: '4', CODES_PER_DAY: '4' });
});
afterAll(() => people.close());

/** Somebody whose last proof of identity is forgotten, as after some time. */
async function unconfirmed() {
  const person = await signedUp(people);
  const forget = () =>
    people.ledger.owner.query('UPDATE sessions SET confirmed_at = NULL WHERE id = $1', [
      person.actor.sessionId,
    ]);
  const isConfirmed = async () => (await people.sessions.find(person.session.token))!.isConfirmed;
  await forget();
  return { ...person, forget, isConfirmed };
}

describe('without a device', () => {
  it('the password confirms this session, and no other of the person’s', async () => {
    const { actor, email, isConfirmed } = await unconfirmed();
    const other = await people.sessions.open({ userId: actor.userId, ip: null, userAgent: null });
    await people.ledger.owner.query('UPDATE sessions SET confirmed_at = NULL WHERE user_id = $1', [
      actor.userId,
    ]);
    await people.confirmations.confirm(actor, { password: PASSWORD });
    expect(await isConfirmed()).toBe(true);
    expect(await people.sessions.find(other.token)).toMatchObject({ actor: { email }, isConfirmed: false });
  });

  it('a wrong password or none confirms nothing', async () => {
    const { actor, isConfirmed } = await unconfirmed();
    await expect(people.confirmations.confirm(actor, { password: 'a guess' })).rejects.toMatchObject({
      code: 'forbidden',
      param: 'password',
    });
    await expect(people.confirmations.confirm(actor, { code: '123456' })).rejects.toMatchObject({
      code: 'missing_required_parameter',
      param: 'password',
    });
    expect(await isConfirmed()).toBe(false);
  });

  it('concurrent guesses are limited, and none beyond the limit is checked', async () => {
    const { actor, isConfirmed } = await unconfirmed();
    const guesses = Array.from({ length: 6 }, () =>
      people.confirmations.confirm(actor, { password: 'a guess' }),
    );
    const { refused } = await race(guesses);
    expect(refused.filter((code) => code === 'forbidden')).toHaveLength(4);
    expect(refused.filter((code) => code === 'too_many_attempts')).toHaveLength(2);
    const late = people.confirmations.confirm(actor, { password: PASSWORD });
    await expect(late).rejects.toMatchObject({ code: 'too_many_attempts' });
    expect(await isConfirmed()).toBe(false);
  });
});

describe('with a device', () => {
  it('a code confirms, and the password alone does not', async () => {
    const { actor, forget, isConfirmed } = await unconfirmed();
    const { next } = await enrolled(people, actor);
    await forget();
    await expect(people.confirmations.confirm(actor, { password: PASSWORD })).rejects.toMatchObject({
      code: 'missing_required_parameter',
      param: 'code',
    });
    expect(await isConfirmed()).toBe(false);
    await people.confirmations.confirm(actor, { code: next() });
    expect(await isConfirmed()).toBe(true);
  });

  it('a code confirms once, even if it is sent twice at once', async () => {
    const { actor, forget, isConfirmed } = await unconfirmed();
    const { next } = await enrolled(people, actor);
    const code = next();
    const twice = [1, 2].map(() => people.confirmations.confirm(actor, { code }));
    expect(await race(twice)).toEqual({ succeeded: 1, refused: ['forbidden'] });
    await forget();
    await expect(people.confirmations.confirm(actor, { code })).rejects.toMatchObject({ param: 'code' });
    expect(await isConfirmed()).toBe(false);
  });

  it('a recovery code confirms once the device’s attempts are used up', async () => {
    const { actor, forget, isConfirmed } = await unconfirmed();
    const { next, recovery } = await enrolled(people, actor);
    await forget();
    // The enrolment used one of the four attempts.
    for (let tries = 0; tries < 3; tries += 1)
      await expect(people.confirmations.confirm(actor, { code: '000000' })).rejects.toMatchObject({
        code: 'forbidden',
      });
    await expect(people.confirmations.confirm(actor, { code: next() })).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
    await people.confirmations.confirm(actor, { code: recovery[0] });
    expect(await isConfirmed()).toBe(true);
  });
});
