import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { visitor } from '../support/console.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { type Relay, startRelay } from '../support/relay.js';

const PASSWORD = 'correct horse battery';

let local: Relay;
let behindHttps: Relay;

beforeAll(async () => {
  local = await startRelay({ MAIL_POLL_SECONDS: '0.1' });
  behindHttps = await startRelay({
    ...{ PUBLIC_CONSOLE_URL: 'https://console.example', PUBLIC_BASE_URL: 'https://api.example' },
    ...{ MAIL_POLL_SECONDS: '0.1' },
  });
}, 60_000);
afterAll(async () => {
  await local?.close();
  await behindHttps?.close();
});

/** Signs somebody up. @returns the answer that opens the session */
async function signUp(relay: Relay, email: string, password = PASSWORD): Promise<Response> {
  await visitor(relay).POST('/api/public/sign-ups', { body: { email } });
  const token = tokenIn(await awaitMail(relay, email, { subject: /Finish signing up/ }));
  const api = visitor(relay);
  return (await api.POST('/api/public/sign-ups/confirm', { body: { token, password } })).response;
}

describe('a session', () => {
  it('behind https is a cookie that no other host can set, and https stays asked for', async () => {
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

  it('on loopback is a plain cookie, and nothing asks for https', async () => {
    const response = await signUp(local, 'cookie@example.com');
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^tollgate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(response.headers.get('strict-transport-security')).toBeNull();
    const models = await fetch(`${local.baseUrl}/v1/models`);
    expect(models.headers.get('strict-transport-security')).toBeNull();
  });
});
