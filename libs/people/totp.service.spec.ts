import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOTP } from 'otpauth';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../test/support/audit.js';
import {
  doneToday,
  enrolled,
  lastMail,
  newOrigin,
  openPeople,
  PASSWORD,
  type PeopleFixture,
  signedUp,
} from '../../test/support/people.js';
import { race } from '../../test/support/race.js';

let people: PeopleFixture;

beforeAll(async () => {
  people = await openPeople({ CODES_PER_DAY: '4' });
});
afterAll(() => people.close());

function codeOf(secret: string): string {
  return new TOTP({ secret }).generate({ timestamp: people.clock.nowMs() });
}

function confirm(actor: Actor, code: string): Promise<string[]> {
  return people.totp.confirm(actor, code, newId());
}

const conflict = { code: 'conflict' };

describe('an enrolment', () => {
  it('asks for codes only once a code from the device has confirmed it', async () => {
    const { actor, email } = await signedUp(people);
    const { secret } = await people.totp.enrol(actor, PASSWORD);
    expect(await people.totp.state(actor)).toEqual({ enabled: false, recoveryCodesLeft: 0 });
    expect(await people.signIns.signIn({ email, password: PASSWORD }, newOrigin())).toHaveProperty('token');
    const recovery = await confirm(actor, codeOf(secret));
    expect(await people.totp.state(actor)).toEqual({ enabled: true, recoveryCodesLeft: recovery.length });
    expect(new Set(recovery).size).toBe(10);
    expect((await lastMail(people, email))?.text).toContain('was turned on');
    expect(await actionsOn(people.ledger, `user:${actor.userId}`)).toContain('totp.enabled');
  });

  it('replaces one that was not confirmed, and is refused while a device is enrolled', async () => {
    const { actor } = await signedUp(people);
    const before = await people.totp.enrol(actor, PASSWORD);
    const { secret } = await people.totp.enrol(actor, PASSWORD);
    await expect(confirm(actor, codeOf(before.secret))).rejects.toMatchObject({ param: 'code' });
    await confirm(actor, codeOf(secret));
    await expect(people.totp.enrol(actor, PASSWORD)).rejects.toMatchObject(conflict);
    await expect(confirm(actor, codeOf(secret))).rejects.toMatchObject(conflict);
  });

  it('is confirmed once if two confirm it at once', async () => {
    const { actor } = await signedUp(people);
    const { secret } = await people.totp.enrol(actor, PASSWORD);
    const code = codeOf(secret);
    const ends = [confirm(actor, code), confirm(actor, code)];
    expect(await race(ends)).toEqual({ succeeded: 1, refused: ['conflict'] });
    expect(await people.totp.state(actor)).toEqual({ enabled: true, recoveryCodesLeft: 10 });
  });

  it('invalidates other sessions’ proofs of identity, and keeps its own session’s', async () => {
    const { actor, session } = await signedUp(people);
    const other = await people.sessions.open({ userId: actor.userId, ip: null, userAgent: null });
    await enrolled(people, actor);
    expect((await people.sessions.find(session.token))!.isConfirmed).toBe(true);
    expect((await people.sessions.find(other.token))!.isConfirmed).toBe(false);
  });

  it('needs the password, an enrolment and a right code, and checks only a few codes a day', async () => {
    const { actor } = await signedUp(people);
    await expect(people.totp.enrol(actor, 'a guess')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(confirm(actor, '000000')).rejects.toMatchObject(conflict);
    const { secret } = await people.totp.enrol(actor, PASSWORD);
    for (let tries = 1; tries < 4; tries += 1)
      await expect(confirm(actor, '000000')).rejects.toMatchObject({ code: 'invalid_value', param: 'code' });
    await expect(confirm(actor, codeOf(secret))).rejects.toMatchObject({ code: 'too_many_attempts' });
    expect((await people.totp.state(actor)).enabled).toBe(false);
  });
});

describe('what changes the second factor', () => {
  it('happens at most twenty times in a day, since each is logged and mailed', async () => {
    const { actor } = await signedUp(people);
    await doneToday(people, actor, { times: 18, what: 'changes of password and second factor' });
    await enrolled(people, actor);
    await people.totp.renewCodes(actor, PASSWORD, newId());
    const before = await actionsOn(people.ledger, `user:${actor.userId}`);
    const refusal = { code: 'too_many_attempts', message: expect.stringContaining('at most 20 changes') };
    await expect(people.totp.renewCodes(actor, PASSWORD, newId())).rejects.toMatchObject(refusal);
    await expect(people.totp.disable(actor, PASSWORD, newId())).rejects.toMatchObject(refusal);
    expect(await people.totp.state(actor)).toEqual({ enabled: true, recoveryCodesLeft: 10 });
    expect(await actionsOn(people.ledger, `user:${actor.userId}`)).toEqual(before);
  });
});

describe('new recovery codes', () => {
  it('invalidate the previous ones', async () => {
    const { actor, email } = await signedUp(people);
    const { recovery } = await enrolled(people, actor);
    const renewed = await people.totp.renewCodes(actor, PASSWORD, newId());
    expect(renewed.filter((code) => recovery.includes(code))).toEqual([]);
    const signIn = (code: string) => people.signIns.signIn({ email, password: PASSWORD, code }, newOrigin());
    await expect(signIn(recovery[0]!)).rejects.toMatchObject({ code: 'sign_in_failed' });
    expect(await signIn(renewed[0]!)).toHaveProperty('token');
    expect((await lastMail(people, email))?.text).toContain('old ones no longer work');
  });

  it('from two requests at once are ten in the end', async () => {
    const { actor } = await signedUp(people);
    await enrolled(people, actor);
    await race([1, 2].map(() => people.totp.renewCodes(actor, PASSWORD, newId())));
    expect((await people.totp.state(actor)).recoveryCodesLeft).toBe(10);
  });

  it('need the password and a device', async () => {
    const { actor } = await signedUp(people);
    await expect(people.totp.renewCodes(actor, PASSWORD, newId())).rejects.toMatchObject(conflict);
    const { recovery } = await enrolled(people, actor);
    const wrong = people.totp.renewCodes(actor, 'a guess', newId());
    await expect(wrong).rejects.toMatchObject({ code: 'forbidden', param: 'password' });
    expect((await people.totp.state(actor)).recoveryCodesLeft).toBe(recovery.length);
  });
});

describe('switching codes off', () => {
  it('removes the device with its recovery codes, once', async () => {
    const { actor, email } = await signedUp(people);
    await enrolled(people, actor);
    await people.totp.disable(actor, PASSWORD, newId());
    await people.totp.disable(actor, PASSWORD, newId());
    expect(await people.totp.state(actor)).toEqual({ enabled: false, recoveryCodesLeft: 0 });
    expect(await people.signIns.signIn({ email, password: PASSWORD }, newOrigin())).toHaveProperty('token');
    const actions = await actionsOn(people.ledger, `user:${actor.userId}`);
    expect(actions.filter((action) => action === 'totp.disabled')).toHaveLength(1);
  });

  it('needs the password', async () => {
    const { actor } = await signedUp(people);
    await enrolled(people, actor);
    const wrong = people.totp.disable(actor, 'a guess', newId());
    await expect(wrong).rejects.toMatchObject({ code: 'forbidden', param: 'password' });
    expect((await people.totp.state(actor)).enabled).toBe(true);
  });
});
