import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import createClient from 'openapi-fetch';
import { Secret, TOTP } from 'otpauth';
import type { paths } from '#apps/console/api/schema.js';
import { newId } from '#platform/ids.js';
import { type Person, person, visitor } from '../support/console.js';
import { awaitMail, mailTo, tokenIn } from '../support/mail.js';
import { type Relay, startRelay, until } from '../support/relay.js';

const PASSWORD = 'correct horse battery';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({
    MAILS_PER_ADDRESS: '100000',
    SIGN_INS_PER_ADDRESS: '100000',
    MAIL_POLL_SECONDS: '0.1',
  });
});
afterAll(() => relay?.close());

const address = () => `${newId()}@example.com`;

/** A browser: it keeps the cookie and sends its session's token. */
class Browser {
  cookie = '';
  csrfToken = '';
  readonly api = createClient<paths>({ baseUrl: relay.consoleUrl });

  constructor() {
    this.api.use({
      onRequest: ({ request }) => {
        if (this.cookie) request.headers.set('cookie', this.cookie);
        if (this.csrfToken) request.headers.set('x-csrf-token', this.csrfToken);
      },
      onResponse: async ({ response }) => {
        const set = response.headers.getSetCookie()[0];
        if (set) this.cookie = set.split(';')[0]!;
        const body = (await response
          .clone()
          .json()
          .catch(() => ({}))) as { csrfToken?: string };
        if (body.csrfToken) this.csrfToken = body.csrfToken;
      },
    });
  }

  signIn(email: string, password = PASSWORD, code?: string) {
    return this.api.POST('/api/public/sign-in', { body: { email, password, ...(code ? { code } : {}) } });
  }
}

async function confirmation(email: string, inviteCode?: string): Promise<string> {
  const body = { email, ...(inviteCode ? { inviteCode } : {}) };
  const { response } = await visitor(relay).POST('/api/public/sign-ups', { body });
  expect(response.status).toBe(202);
  return tokenIn(await awaitMail(relay, email.trim().toLowerCase(), { subject: /Finish signing up/ }));
}

async function signedUp(options: { email?: string; inviteCode?: string } = {}) {
  const email = options.email ?? address();
  const token = await confirmation(email, options.inviteCode);
  const browser = new Browser();
  const { data, error } = await browser.api.POST('/api/public/sign-ups/confirm', {
    body: { token, password: PASSWORD },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return { ...data, email, browser };
}

async function inviteCodeOf(accountId: string): Promise<string> {
  const { rows } = await relay.fixture.owner.query('SELECT invite_code FROM accounts WHERE id = $1', [
    accountId,
  ]);
  return rows[0].invite_code;
}

async function auditOf(subject: string): Promise<string[]> {
  const { rows } = await relay.fixture.owner.query(
    'SELECT action FROM audit_log WHERE subject = $1 ORDER BY id',
    [subject],
  );
  return rows.map(({ action }) => action);
}

describe('signing up', () => {
  it('opens an empty account with its person signed in, through the link in a mail', async () => {
    const { browser, email, accountId } = await signedUp({ email: ` ${newId()}@Example.COM ` });
    const { data } = await browser.api.GET('/api/session');
    expect(data).toMatchObject({ email: email.trim().toLowerCase(), accountId, roles: ['user'] });
    const { rows } = await relay.fixture.owner.query(
      'SELECT main, held, invite FROM customer_balances WHERE account_id = $1',
      [accountId],
    );
    expect(rows).toEqual([{ main: 0n, held: 0n, invite: 0n }]);
  });

  it('creates nothing before the link is followed, and the link works once', async () => {
    const email = address();
    const token = await confirmation(email);
    expect((await new Browser().signIn(email)).error).toMatchObject({ error: { code: 'sign_in_failed' } });
    const follow = () =>
      visitor(relay).POST('/api/public/sign-ups/confirm', { body: { token, password: PASSWORD } });
    const results = await Promise.all(Array.from({ length: 10 }, follow));
    expect(results.filter(({ response }) => response.status === 201)).toHaveLength(1);
    expect((await follow()).error).toMatchObject({ error: { code: 'invalid_value', param: 'token' } });
  });

  it('opens one account per address, whatever the number of links', async () => {
    const email = address();
    const first = await confirmation(email);
    await visitor(relay).POST('/api/public/sign-ups', { body: { email } });
    const second = tokenIn(await awaitMail(relay, email, { subject: /Finish/, count: 2 }));
    const results = await Promise.all(
      [first, second].map((token) =>
        visitor(relay).POST('/api/public/sign-ups/confirm', { body: { token, password: PASSWORD } }),
      ),
    );
    expect(results.map(({ response }) => response.status).sort()).toEqual([201, 400]);
  });

  it('reveals only in the mail that an address has an account', async () => {
    const { email } = await signedUp();
    const { response, data } = await visitor(relay).POST('/api/public/sign-ups', { body: { email } });
    expect([response.status, data]).toEqual([202, undefined]);
    const mail = await awaitMail(relay, email, { subject: /already have/ });
    expect(mail.text).not.toContain('token=');
  });

  it('records who invited the person, and refuses an unknown code', async () => {
    const inviter = await signedUp();
    const invitee = await signedUp({ inviteCode: (await inviteCodeOf(inviter.accountId)).toUpperCase() });
    const { rows } = await relay.fixture.owner.query(
      'SELECT inviter_account_id FROM invitations WHERE invitee_account_id = $1',
      [invitee.accountId],
    );
    expect(rows).toEqual([{ inviter_account_id: inviter.accountId }]);
    const { error } = await visitor(relay).POST('/api/public/sign-ups', {
      body: { email: address(), inviteCode: 'nobodyscode' },
    });
    expect(error).toMatchObject({ error: { code: 'invalid_value', param: 'inviteCode' } });
  });

  it('never lets invitations form a ring or point at themselves', async () => {
    const a = await signedUp();
    const b = await signedUp({ inviteCode: await inviteCodeOf(a.accountId) });
    const c = await signedUp({ inviteCode: await inviteCodeOf(b.accountId) });
    const invite = (invitee: string, inviter: string) =>
      relay.fixture.owner.query(
        'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
        [invitee, inviter],
      );
    await expect(invite(a.accountId, c.accountId)).rejects.toMatchObject({
      constraint: 'no_invitation_loop',
    });
    await expect(invite(a.accountId, a.accountId)).rejects.toMatchObject({ code: '23514' });
  });

  it.each([
    ['an address without a domain', { email: 'someone' }, 'email'],
    ['an address with a line break', { email: 'a@example.com\nbcc: b@example.com' }, 'email'],
    ['no address', {}, 'email'],
    ['an unknown field', { email: 'a@example.com', role: 'admin' }, 'role'],
  ])('refuses %s', async (_what, body, param) => {
    const { error } = await visitor(relay).POST('/api/public/sign-ups', { body: body as { email: string } });
    expect(error).toMatchObject({ error: { param } });
  });

  it('requires a password that is long enough', async () => {
    const token = await confirmation(address());
    const { error } = await visitor(relay).POST('/api/public/sign-ups/confirm', {
      body: { token, password: 'short' },
    });
    expect(error).toMatchObject({ error: { code: 'invalid_value', param: 'password' } });
  });
});

describe('signing in', () => {
  it('answers an unknown address and a wrong password alike', async () => {
    const { email } = await signedUp();
    const wrong = await new Browser().signIn(email, 'not the password');
    const unknown = await new Browser().signIn(address());
    expect(wrong.error).toEqual(unknown.error);
    expect([wrong.response.status, unknown.response.status]).toEqual([401, 401]);
    expect(wrong.response.headers.getSetCookie()).toEqual([]);
  });

  it('sets a cookie that no script reads and no other site sends, and ends the previous session', async () => {
    const { email, browser } = await signedUp();
    const before = browser.cookie;
    const { response } = await browser.signIn(email);
    expect(response.headers.getSetCookie()[0]).toMatch(/^tollgate_session=.*HttpOnly.*SameSite=Lax/);
    expect(browser.cookie).not.toBe(before);
    const { status } = await fetch(`${relay.consoleUrl}/api/session`, { headers: { cookie: before } });
    expect(status).toBe(401);
  });

  it('stops after many attempts, even 50 at once, and lets the owner in after a reset', async () => {
    const { email } = await signedUp();
    const tries = await Promise.all(
      Array.from({ length: 50 }, () => new Browser().signIn(email, 'not the password')),
    );
    const codes = tries.map(({ error }) => error?.error.code);
    expect(codes.filter((code) => code === 'sign_in_failed')).toHaveLength(10);
    expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(40);
    const locked = await new Browser().signIn(email);
    expect(locked.response.status).toBe(429);
    expect(Number(locked.response.headers.get('retry-after'))).toBeGreaterThan(5);

    await visitor(relay).POST('/api/public/password-resets', { body: { email } });
    const token = tokenIn(await awaitMail(relay, email, { subject: /new Tollgate password/ }));
    const browser = new Browser();
    const reset = await browser.api.POST('/api/public/password-resets/confirm', {
      body: { token, password: 'another long password' },
    });
    expect(reset.data?.email).toBe(email);
    expect((await new Browser().signIn(email, 'another long password')).response.status).toBe(200);
  });

  it('counts per network address, whatever the e-mail addresses', async () => {
    const tight = await startRelay({ SIGN_INS_PER_ADDRESS: '3' });
    try {
      const attempt = async () => {
        const { response } = await visitor(tight).POST('/api/public/sign-in', {
          body: { email: address(), password: PASSWORD },
        });
        return response.status;
      };
      expect([await attempt(), await attempt(), await attempt(), await attempt()]).toEqual([
        401, 401, 401, 429,
      ]);
    } finally {
      await tight.close();
    }
  });

  it('refuses a person who was blocked', async () => {
    const { email, userId, browser } = await signedUp();
    const admin = await person(relay, { roles: ['admin'] });
    await admin.api.PUT('/api/admin/people/{userId}/disabled', {
      params: { path: { userId } },
      body: { disabled: true },
    });
    expect((await browser.api.GET('/api/session')).response.status).toBe(401);
    expect((await new Browser().signIn(email)).error).toMatchObject({ error: { code: 'sign_in_failed' } });
  });
});

describe('passwords', () => {
  it('are reset with a link that works once, ends all sessions and is reported', async () => {
    const { email, browser, userId } = await signedUp();
    await visitor(relay).POST('/api/public/password-resets', { body: { email } });
    const token = tokenIn(await awaitMail(relay, email, { subject: /new Tollgate password/ }));
    const use = () =>
      visitor(relay).POST('/api/public/password-resets/confirm', {
        body: { token, password: 'brand new words' },
      });
    const results = await Promise.all(Array.from({ length: 8 }, use));
    expect(results.filter(({ response }) => response.status === 200)).toHaveLength(1);
    expect((await browser.api.GET('/api/session')).response.status).toBe(401);
    expect((await new Browser().signIn(email)).response.status).toBe(401);
    expect((await new Browser().signIn(email, 'brand new words')).response.status).toBe(200);
    await awaitMail(relay, email, { subject: /sign-in settings/ });
    expect(await auditOf(`user:${userId}`)).toEqual(['password.reset']);
  });

  it('are not reset with a link that has expired', async () => {
    const { email } = await signedUp();
    await visitor(relay).POST('/api/public/password-resets', { body: { email } });
    const token = tokenIn(await awaitMail(relay, email, { subject: /new Tollgate password/ }));
    await relay.fixture.owner.query(`UPDATE password_resets SET expires_at = now() - interval '1 second'`);
    const { error } = await visitor(relay).POST('/api/public/password-resets/confirm', {
      body: { token, password: 'brand new words' },
    });
    expect(error).toMatchObject({ error: { param: 'token' } });
  });

  it('answer the same way for unknown addresses, and send nothing', async () => {
    const email = address();
    const { response } = await visitor(relay).POST('/api/public/password-resets', { body: { email } });
    expect(response.status).toBe(202);
    const { email: marker } = await signedUp();
    expect((await mailTo(relay, marker)).length).toBeGreaterThan(0);
    expect(await mailTo(relay, email)).toEqual([]);
  });

  it('are changed with the previous one, which ends all other sessions', async () => {
    const { email, browser } = await signedUp();
    const other = new Browser();
    await other.signIn(email);
    const change = (currentPassword: string) =>
      browser.api.POST('/api/password', {
        body: { currentPassword, newPassword: 'something else entirely' },
      });
    expect((await change('wrong')).error).toMatchObject({
      error: { code: 'forbidden', param: 'currentPassword' },
    });
    expect((await change(PASSWORD)).response.status).toBe(204);
    expect((await browser.api.GET('/api/session')).response.status).toBe(200);
    expect((await other.api.GET('/api/session')).response.status).toBe(401);
  });
});

describe('mail', () => {
  it('is in the language of the page that signed up, then in the one that its person chose', async () => {
    const email = address();
    await visitor(relay).POST('/api/public/sign-ups', { body: { email, language: 'zh' } });
    const mail = await awaitMail(relay, email, { subject: /^完成 Tollgate 注册$/ });
    expect(mail.html).toContain('创建账户');
    expect(mail.html).toContain(`#token=${tokenIn(mail)}"`);
    const browser = new Browser();
    const { data } = await browser.api.POST('/api/public/sign-ups/confirm', {
      body: { token: tokenIn(mail), password: PASSWORD },
    });
    expect(data).toMatchObject({ email, language: 'zh' });
    await browser.api.POST('/api/password', {
      body: { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` },
    });
    await awaitMail(relay, email, { subject: /登录设置已变更/ });

    await browser.api.PUT('/api/mail-language', { body: { language: 'en' } });
    expect((await browser.api.GET('/api/session')).data).toMatchObject({ language: 'en' });
    await browser.api.POST('/api/password', {
      body: { currentPassword: `${PASSWORD} 2`, newPassword: PASSWORD },
    });
    const english = await awaitMail(relay, email, { subject: /sign-in settings/ });
    expect(english.html).toContain('Set a new password');
  });

  it('refuses a language that it has no texts in', async () => {
    const { browser } = await signedUp();
    const { error } = await browser.api.PUT('/api/mail-language', { body: { language: 'fr' as 'en' } });
    expect(error).toMatchObject({ error: { code: 'invalid_value', param: 'language' } });
    expect((await browser.api.GET('/api/session')).data).toMatchObject({ language: null });
  });
});

describe('sessions', () => {
  it('are listed and ended, one or all, but never those of others', async () => {
    const { email, browser } = await signedUp();
    const [second, third] = [new Browser(), new Browser()];
    await second.signIn(email);
    await third.signIn(email);
    const { data } = await browser.api.GET('/api/sessions');
    expect(data?.items).toHaveLength(3);
    const current = data!.items.find(({ isCurrent }) => isCurrent)!;
    const stranger = await signedUp();
    const foreign = await stranger.browser.api.DELETE('/api/sessions/{sessionId}', {
      params: { path: { sessionId: current.sessionId } },
    });
    expect(foreign.response.status).toBe(404);

    const { data: of2 } = await second.api.GET('/api/sessions');
    const { sessionId } = of2!.items.find(({ isCurrent }) => isCurrent)!;
    await browser.api.DELETE('/api/sessions/{sessionId}', { params: { path: { sessionId } } });
    expect((await second.api.GET('/api/session')).response.status).toBe(401);
    const ended = await browser.api.DELETE('/api/sessions', { params: { query: { keepThis: 'true' } } });
    expect(ended.data).toEqual({ revoked: 1 });
    expect((await browser.api.GET('/api/session')).response.status).toBe(200);
    await browser.api.DELETE('/api/sessions');
    expect((await browser.api.GET('/api/session')).response.status).toBe(401);
  });

  it('end by signing out, and only with the token against forgery', async () => {
    const { browser } = await signedUp();
    const { cookie } = browser;
    const forged = await fetch(`${relay.consoleUrl}/api/sign-out`, { method: 'POST', headers: { cookie } });
    expect(forged.status).toBe(403);
    expect((await browser.api.POST('/api/sign-out')).response.status).toBe(204);
    const { status } = await fetch(`${relay.consoleUrl}/api/session`, { headers: { cookie } });
    expect(status).toBe(401);
  });
});

describe('one-time codes', () => {
  async function enrolled() {
    const someone = await signedUp();
    const { api } = someone.browser;
    const { data } = await api.POST('/api/totp/enrolment', { body: { password: PASSWORD } });
    expect(data?.uri).toMatch(/^otpauth:\/\/totp\/Tollgate:/);
    const device = new TOTP({ secret: Secret.fromBase32(data!.secret) });
    // Signing in needs a later one. It is too old if the next half minute begins meanwhile.
    const confirmed = await until('a code in time', async () => {
      const code = device.generate({ timestamp: Date.now() - 30_000 });
      return (await api.POST('/api/totp/confirm', { body: { code } })).data;
    });
    return { ...someone, device, recoveryCodes: confirmed.recoveryCodes };
  }

  it('are asked for once confirmed, and each works once', async () => {
    const { email, device, userId } = await enrolled();
    expect((await new Browser().signIn(email)).error).toMatchObject({ error: { code: 'totp_required' } });
    const code = device.generate();
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => new Browser().signIn(email, PASSWORD, code)),
    );
    expect(tries.filter(({ response }) => response.status === 200)).toHaveLength(1);
    expect(tries.find(({ error }) => error)?.error).toMatchObject({ error: { param: 'code' } });
    expect(await auditOf(`user:${userId}`)).toEqual(['totp.enabled']);
  });

  it('can be replaced by recovery codes, each once', async () => {
    const { email, recoveryCodes, browser } = await enrolled();
    expect(recoveryCodes).toHaveLength(10);
    const code = recoveryCodes[3]!;
    expect((await new Browser().signIn(email, PASSWORD, code.toUpperCase())).response.status).toBe(200);
    expect((await new Browser().signIn(email, PASSWORD, code)).response.status).toBe(401);
    const { data } = await browser.api.GET('/api/totp');
    expect(data).toEqual({ enabled: true, recoveryCodesLeft: 9 });
  });

  it('are asked for by a password reset too, so a mailbox alone is not enough', async () => {
    const { email, device } = await enrolled();
    await visitor(relay).POST('/api/public/password-resets', { body: { email } });
    const token = tokenIn(await awaitMail(relay, email, { subject: /new Tollgate password/ }));
    const reset = (code?: string) =>
      visitor(relay).POST('/api/public/password-resets/confirm', {
        body: { token, password: 'brand new words', ...(code ? { code } : {}) },
      });
    expect((await reset()).error).toMatchObject({ error: { code: 'totp_required' } });
    expect((await reset('000000')).error).toMatchObject({ error: { code: 'sign_in_failed' } });
    expect((await reset(device.generate())).response.status).toBe(200);
  });

  it('are switched off with the password, or by an administrator', async () => {
    const { browser, email } = await enrolled();
    const disable = (password: string) => browser.api.POST('/api/totp/disable', { body: { password } });
    expect((await disable('wrong')).response.status).toBe(403);
    expect((await disable(PASSWORD)).response.status).toBe(204);
    expect((await new Browser().signIn(email)).response.status).toBe(200);

    const lost = await enrolled();
    const admin = await person(relay, { roles: ['admin'] });
    await admin.api.DELETE('/api/admin/people/{userId}/totp', { params: { path: { userId: lost.userId } } });
    expect((await new Browser().signIn(lost.email)).response.status).toBe(200);
  });
});

describe('roles', () => {
  const roles = (by: Person, userId: string, wanted: ('support' | 'finance' | 'admin')[]) =>
    by.api.PUT('/api/admin/people/{userId}/roles', { params: { path: { userId } }, body: { roles: wanted } });

  it('are granted by two administrators and revoked by one, for others, and logged', async () => {
    const admin = await person(relay, { roles: ['admin'] });
    const someone = await person(relay);
    const colleague = await person(relay, { roles: ['admin'] });
    const asked = await roles(admin, someone.userId, ['support', 'finance']);
    expect(asked.data).toMatchObject({ roles: ['user'], approvalId: expect.any(String) });
    const granted = await colleague.api.POST('/api/approvals/{approvalId}/approve', {
      params: { path: { approvalId: asked.data!.approvalId! } },
      body: {},
    });
    expect(granted.data?.outcome).toEqual({ roles: ['user', 'support', 'finance'] });
    expect((await roles(admin, someone.userId, [])).data?.roles).toEqual(['user']);
    expect((await roles(admin, admin.userId, ['finance'])).error).toMatchObject({
      error: { code: 'forbidden' },
    });
    expect((await roles(someone, admin.userId, [])).response.status).toBe(403);
    expect((await roles(admin, newId(), [])).response.status).toBe(404);
    const { data } = await admin.api.GET('/api/admin/audit-log', {
      params: { query: { subject: `user:${someone.userId}` } },
    });
    expect(data?.items).toMatchObject([
      { action: 'person.roles_changed', after: { roles: ['user'] }, accountId: someone.accountId },
      { action: 'approval.approved', actor: `user:${colleague.userId}` },
      { before: { roles: ['user'] }, after: { roles: ['user', 'support', 'finance'] } },
      { action: 'approval.requested', actor: `user:${admin.userId}` },
    ]);
  });

  it('leave one administrator, even if two revoke each other’s at once', async () => {
    const apart = await startRelay();
    try {
      const [a, b] = [await person(apart, { roles: ['admin'] }), await person(apart, { roles: ['admin'] })];
      const results = await Promise.all([roles(a, b.userId, []), roles(b, a.userId, [])]);
      expect(results.map(({ response }) => response.status).sort()).not.toEqual([200, 200]);
      const { rows } = await apart.fixture.owner.query(`SELECT FROM users WHERE 'admin' = ANY (roles)`);
      expect(rows).toHaveLength(1);
    } finally {
      await apart.close();
    }
  });

  it('are found page by page', async () => {
    const admin = await person(relay, { roles: ['admin'] });
    await person(relay, { roles: ['finance'] });
    await person(relay, { roles: ['finance'] });
    const page = (cursor?: string) =>
      admin.api.GET('/api/admin/people', {
        params: { query: { role: 'finance', limit: 1, ...(cursor ? { cursor } : {}) } },
      });
    const first = (await page()).data!;
    const second = (await page(first.nextCursor!)).data!;
    expect(first.items[0]!.userId > second.items[0]!.userId).toBe(true);
  });
});

describe('another e-mail address', () => {
  const ask = (browser: Browser, email: string, password = PASSWORD) =>
    browser.api.POST('/api/email-changes', { body: { email, password } });
  const confirm = (token: string) =>
    visitor(relay).POST('/api/public/email-changes/confirm', { body: { token } });

  async function signedIn(): Promise<{ email: string; browser: Browser }> {
    const email = address();
    const token = await confirmation(email);
    const browser = new Browser();
    await browser.api.POST('/api/public/sign-ups/confirm', { body: { token, password: PASSWORD } });
    return { email, browser };
  }

  it('is confirmed with the link sent there, once, and the old one is notified', async () => {
    const { email, browser } = await signedIn();
    const next = address();
    expect((await ask(browser, next, 'not the password')).error).toMatchObject({
      error: { code: 'forbidden', param: 'password' },
    });
    expect((await ask(browser, email)).error).toMatchObject({ error: { param: 'email' } });
    expect((await ask(browser, next)).response.status).toBe(202);
    const token = tokenIn(await awaitMail(relay, next, { subject: /Confirm your new email address/ }));
    expect((await new Browser().signIn(next)).response.status).toBe(401);

    expect((await confirm(token)).data).toEqual({ email: next });
    expect((await confirm(token)).error).toMatchObject({ error: { param: 'token' } });
    const notice = await awaitMail(relay, email, { subject: /sign-in settings/ });
    expect(notice.text).toContain(next);
    expect((await browser.api.GET('/api/session')).data!.email).toBe(next);
    expect((await new Browser().signIn(next)).response.status).toBe(200);
    expect((await new Browser().signIn(email)).response.status).toBe(401);
    const admin = await person(relay, { roles: ['admin'] });
    const query = { subject: `user:${(await browser.api.GET('/api/session')).data!.userId}` };
    const { data } = await admin.api.GET('/api/admin/audit-log', { params: { query } });
    expect(data!.items).toContainEqual(
      expect.objectContaining({ action: 'email.changed', actorEmail: next, before: null, after: null }),
    );
  });

  it('that is someone else’s stays theirs, and only the mail to it says so', async () => {
    const [{ browser }, { email: taken }] = await Promise.all([signedIn(), signedIn()]);
    expect((await ask(browser, taken)).response.status).toBe(202);
    const { text } = await awaitMail(relay, taken, { subject: /already has a Tollgate account/ });
    expect(text).not.toContain('#token');
  });

  it('that someone else has taken in the meantime is not assigned again', async () => {
    const [{ browser: first }, { browser: second }] = await Promise.all([signedIn(), signedIn()]);
    const wanted = address();
    await ask(first, wanted);
    const mine = tokenIn(await awaitMail(relay, wanted, { subject: /Confirm/ }));
    await ask(second, wanted);
    const theirs = tokenIn(await awaitMail(relay, wanted, { subject: /Confirm/, count: 2 }));
    expect((await confirm(theirs)).data).toEqual({ email: wanted });
    expect((await confirm(mine)).error).toMatchObject({ error: { param: 'token' } });
  });
});
