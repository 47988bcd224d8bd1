import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { person, sessionOf } from '../support/console.js';
import { forEachOf, requestOf, routesOf, urlOf } from '../support/console-routes.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';
import { codeOf, newcomer, PASSWORD, signUp, Visit, visit } from '../support/visit.js';

let local: Relay;
let behindHttps: Relay;

beforeAll(async () => {
  local = await startRelay({ MAIL_POLL_SECONDS: '0.1', SIGN_INS_PER_EMAIL: '1000', CODES_PER_DAY: '5' });
  behindHttps = await startRelay({
    PUBLIC_CONSOLE_URL: 'https://console.example',
    PUBLIC_BASE_URL: 'https://api.example',
    MAIL_POLL_SECONDS: '0.1',
  });
});
afterAll(async () => {
  await local?.close();
  await behindHttps?.close();
});

describe('a session', () => {
  it('behind HTTPS is a cookie that no other host can set, and browsers keep to HTTPS', async () => {
    const response = await signUp(behindHttps, 'cookie@example.com');
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-tollgate_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const session = (name: string) =>
      fetch(`${behindHttps.consoleUrl}/api/session`, {
        headers: { cookie: cookie.split(';')[0]!.replace(/^[^=]+/, name) },
      });
    expect((await session('__Host-tollgate_session')).status).toBe(200);
    expect((await session('tollgate_session')).status).toBe(401);
    for (const url of [`${behindHttps.consoleUrl}/`, `${behindHttps.consoleUrl}/api/session`]) {
      expect((await fetch(url)).headers.get('strict-transport-security')).toBe('max-age=31536000');
    }
    for (const path of ['/v1/models', '/nowhere']) {
      const answer = await fetch(behindHttps.baseUrl + path);
      expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
    }
  });

  it('on loopback is a plain cookie, and nothing requires HTTPS', async () => {
    const response = await signUp(local, 'cookie@example.com');
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^tollgate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(response.headers.get('strict-transport-security')).toBeNull();
    const models = await fetch(`${local.baseUrl}/v1/models`);
    expect(models.headers.get('strict-transport-security')).toBeNull();
  });
});

async function paramOf(response: Response): Promise<string | null | undefined> {
  const body = (await response.json()) as { error?: { param: string | null } };
  return body.error?.param;
}

describe('a password that others would try first', () => {
  const WEAK = ['password1234', 'Qwertyuiop123!', 'tollgate2026', '1234567890', 'iloveyou2026'];

  it('is refused at sign-up, for a reset and for a change', async () => {
    const someone = await newcomer(local);
    await visit(local, '/api/public/password-resets', { email: someone.email });
    const reset = tokenIn(await awaitMail(local, someone.email, { subject: /new Tollgate password/ }));
    const email = `lighthouse.keeper+${newId()}@example.com`;
    await visit(local, '/api/public/sign-ups', { email });
    const token = tokenIn(await awaitMail(local, email, { subject: /Finish signing up/ }));
    for (const password of [...WEAK, 'lighthouse.keeper1', email]) {
      const answer = await visit(local, '/api/public/sign-ups/confirm', { token, password });
      expect([password, answer.status, await paramOf(answer)]).toEqual([password, 400, 'password']);
    }
    for (const password of [...WEAK, someone.email]) {
      const answer = await visit(local, '/api/public/password-resets/confirm', { token: reset, password });
      expect([password, answer.status, await paramOf(answer)]).toEqual([password, 400, 'password']);
      const body = { currentPassword: PASSWORD, newPassword: password };
      const change = await someone.post('/api/password', body);
      expect([password, change.status, await paramOf(change)]).toEqual([password, 400, 'newPassword']);
    }
    // The links still work: nothing was changed.
    expect((await visit(local, '/api/public/sign-ups/confirm', { token, password: PASSWORD })).status).toBe(
      201,
    );
  });
});

describe('staff', () => {
  /** A session behind HTTPS of a person with this role and without a device. */
  async function appointed(...given: Role[]): Promise<Visit> {
    const { userId } = await person({ ...behindHttps, consoleUrl: local.consoleUrl }, { roles: given });
    const headers = await sessionOf(behindHttps.fixture.billing, userId);
    return new Visit(behindHttps, { ...headers, cookie: `__Host-${headers.cookie}` });
  }

  it('can only set up a second factor until they have one', async () => {
    const routes = (await routesOf(behindHttps)).filter(({ access }) => access !== 'public');
    const someone = await appointed('support', 'finance', 'admin');
    const reached = new Set<string>();
    await forEachOf(routes, async (route) => {
      if (route.id === 'signOut') return;
      const response = await someone.send(urlOf(route), requestOf(route));
      const code = await codeOf(response);
      if (code !== 'second_factor_required') reached.add(route.id);
      else expect(response.status).toBe(403);
    });
    expect([...reached].sort()).toEqual([
      'confirmSession',
      'confirmTotp',
      'enrolTotp',
      'getSession',
      'getTotp',
    ]);
    expect((await someone.send('/api/sign-out', { method: 'POST' })).status).toBe(204);
  });

  it('are sent there by their session, even one from before the role was granted', async () => {
    const someone = await newcomer(behindHttps);
    const state = async () => {
      const answer = (await (await someone.send('/api/session')).json()) as { secondFactor: string };
      return answer.secondFactor;
    };
    expect(await state()).toBe('off');
    expect((await someone.send('/api/keys')).status).toBe(200);
    await behindHttps.fixture.owner.query(`UPDATE users SET roles = '{user,support}' WHERE email = $1`, [
      someone.email,
    ]);
    expect(await state()).toBe('required');
    expect(await codeOf(await someone.send('/api/keys'))).toBe('second_factor_required');
    await someone.enrol();
    expect(await state()).toBe('on');
    expect((await someone.send('/api/support/tickets')).status).toBe(200);
    expect((await someone.post('/api/totp/disable', { password: PASSWORD })).status).toBe(204);
    expect(await codeOf(await someone.send('/api/support/tickets'))).toBe('second_factor_required');
  });

  it('are only advised to on loopback', async () => {
    const someone = await person(local, { roles: ['admin'] });
    const { data } = await someone.api.GET('/api/session');
    expect(data!.secondFactor).toBe('advised');
    expect((await someone.api.GET('/api/admin/people')).response.status).toBe(200);
  });
});

describe('a flood of right passwords', () => {
  it('delays neither other people nor those who sign in', async () => {
    const [flooding, other] = [await newcomer(local), await newcomer(local)];
    let answered = 0;
    const flood = Array.from({ length: 80 }, async () => {
      if ((await flooding.post('/api/session/confirm', { password: PASSWORD })).ok) answered += 1;
    });
    await until('the flood to be served', () => Promise.resolve(answered > 0));
    const credentials = { email: other.email, password: PASSWORD };
    const signedIn = await visit(local, '/api/public/sign-in', credentials);
    const confirmed = await other.post('/api/session/confirm', { password: PASSWORD });
    const before = answered;
    expect([signedIn.status, confirmed.status]).toEqual([200, 204]);
    await Promise.all(flood);
    expect(before).toBeLessThan(answered);
  });
});

describe('six digits', () => {
  const wrong = (n: number) => String(n).padStart(6, '0');

  it.each([
    ['when a device is set up', 'confirm'],
    ['when a session is confirmed', 'session'],
    ['at sign-in, with the right password', 'sign-in'],
  ])('cannot be guessed %s', async (_, where) => {
    const someone = await newcomer(local);
    let recovery = '';
    if (where === 'confirm') await someone.post('/api/totp/enrolment', { password: PASSWORD });
    else recovery = (await someone.enrol()).recoveryCodes[0]!;
    const guess = (code: string) => {
      const credentials = { email: someone.email, password: PASSWORD, code };
      if (where === 'sign-in') return visit(local, '/api/public/sign-in', credentials);
      return someone.post(where === 'confirm' ? '/api/totp/confirm' : '/api/session/confirm', { code });
    };
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(wrong(n))));
    const codes = await Promise.all(answers.map(codeOf));
    // A slow machine checks fewer passwords at once than this sends, and looks at none of the rest.
    const looked = codes.filter((code) => code !== 'too_many_attempts' && code !== 'service_unavailable');
    expect(looked.length).toBeLessThanOrEqual(5);
    expect(Number(answers.find(({ status }) => status === 429)!.headers.get('retry-after'))).toBeGreaterThan(
      3600,
    );
    if (recovery !== '') expect((await guess(recovery)).status).toBeLessThan(300);
  });
});

describe('a flood of requests', () => {
  let small: Relay;
  beforeAll(async () => {
    small = await startRelay({
      CONSOLE_READS_PER_MINUTE: '20',
      CONSOLE_WRITES_PER_MINUTE: '10',
      CONSOLE_ANONYMOUS_PER_MINUTE: '30',
    });
  });
  afterAll(() => small?.close());

  const statuses = (answers: Response[]) => answers.map(({ status }) => status);

  it('is limited per person, separately for reads and writes, without affecting others', async () => {
    const [flooding, other] = [await person(small), await person(small)];
    const reads = await Promise.all(Array.from({ length: 40 }, () => flooding.send('/api/account')));
    expect(statuses(reads).filter((status) => status === 429)).toHaveLength(20);
    const refused = reads.find(({ status }) => status === 429)!;
    expect(await codeOf(refused)).toBe('rate_limit_exceeded');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('20');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(refused.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/);
    const change = () => flooding.send('/api/account', { ...json({ name: 'Mine' }), method: 'PATCH' });
    const writes = await Promise.all(Array.from({ length: 15 }, change));
    expect(statuses(writes).filter((status) => status === 429)).toHaveLength(5);
    expect((await other.send('/api/account')).status).toBe(200);
  });

  it('counts on every route, whatever it is for', async () => {
    const routes = (await routesOf(small)).filter(
      ({ id, access }) => access !== 'public' && id !== 'signOut',
    );
    const flooding = await person(small);
    const flood = async () => {
      const change = () => flooding.send('/api/account', { ...json({ name: 'Mine' }), method: 'PATCH' });
      await Promise.all(Array.from({ length: 40 }, () => flooding.send('/api/account')));
      await Promise.all(Array.from({ length: 15 }, change));
    };
    await flood();
    await forEachOf(routes, async (route) => {
      await until(`${route.id} to be refused`, async () => {
        const response = await flooding.send(urlOf(route), requestOf(route));
        await response.arrayBuffer();
        if (response.status === 429) return true;
        // The minute of the flood has ended: flood the next one.
        await flood();
        return false;
      });
    });
  });

  it('of quotes is stopped, and the sender can still sign in', async () => {
    const ask = async (n: number) => {
      const query = `model=imgmodel-4&group=Vendora-Main&n=${(n % 4) + 1}`;
      const answer = await fetch(`${small.consoleUrl}/api/public/quote?${query}`);
      await answer.arrayBuffer();
      return answer.status;
    };
    await until('quotes to be refused', async () => {
      const answered = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n)));
      return answered.includes(429);
    });
    const attempt = json({ email: 'nobody@example.com', password: PASSWORD });
    const signIn = await fetch(`${small.consoleUrl}/api/public/sign-in`, attempt);
    expect(await codeOf(signIn)).toBe('sign_in_failed');
  });

  it('of strangers is limited per address, without affecting people with a session', async () => {
    const someone = await person(small);
    // Reads the document for checking answers while that is still possible.
    expect((await someone.send('/api/account')).status).toBe(200);
    // A route that needs a session refuses requests without one before anything is counted or read.
    expect((await fetch(`${small.consoleUrl}/api/account`)).status).toBe(401);
    const paths = ['/api/public/prices', '/api/status', '/api/openapi.json'];
    for (const path of paths) {
      // More than once, since a new minute may begin meanwhile.
      await until(`${path} to be refused`, async () => {
        const answers = await Promise.all(
          Array.from({ length: 40 }, () => fetch(`${small.consoleUrl}${path}`)),
        );
        await Promise.all(answers.map((answer) => answer.arrayBuffer()));
        return statuses(answers).includes(429);
      });
    }
    const headers = { cookie: `tollgate_session=${'x'.repeat(43)}` };
    await until('a forged session to be refused', async () => {
      const answer = await fetch(`${small.consoleUrl}/api/account`, { headers });
      await answer.arrayBuffer();
      return answer.status === 429;
    });
    expect((await someone.send('/api/account')).status).toBe(200);
  });
});
