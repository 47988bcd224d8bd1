import { Secret, TOTP } from 'otpauth';
import { newId } from '#platform/ids.js';
import { visitor } from './console.js';
import { until } from './eventually.js';
import { awaitMail, tokenIn } from './mail.js';
import { json, type Relay } from './relay.js';

export const PASSWORD = 'correct horse battery';

export function visit(relay: Relay, path: string, body: object): Promise<Response> {
  return fetch(relay.consoleUrl + path, json(body));
}

/** Signs a person up. @returns the answer that starts the session */
export async function signUp(relay: Relay, email: string, password = PASSWORD): Promise<Response> {
  await visitor(relay).POST('/api/public/sign-ups', { body: { email } });
  const token = tokenIn(await awaitMail(relay, email, { subject: /Finish signing up/ }));
  return visit(relay, '/api/public/sign-ups/confirm', { token, password });
}

/** A person in a browser, with their session's cookie and token. */
export class Visit {
  constructor(
    private readonly relay: Relay,
    readonly headers: Record<string, string>,
  ) {}

  static async of(relay: Relay, answer: Response): Promise<Visit> {
    const { csrfToken } = (await answer.clone().json()) as { csrfToken: string };
    const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!;
    return new Visit(relay, { cookie, 'x-csrf-token': csrfToken });
  }

  send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...this.headers, ...(init.headers as Record<string, string>) };
    return fetch(this.relay.consoleUrl + path, { ...init, headers });
  }

  post(path: string, body: object): Promise<Response> {
    return this.send(path, json(body));
  }

  /** Enrols a device. */
  async enrol(): Promise<{ device: TOTP; recoveryCodes: string[] }> {
    const begun = await this.post('/api/totp/enrolment', { password: PASSWORD });
    const { secret } = (await begun.json()) as { secret: string };
    const device = new TOTP({ secret: Secret.fromBase32(secret) });
    // Signing in needs a later one. It is too old if the next half minute begins meanwhile.
    const confirmed = await until('a code in time', async () => {
      const code = device.generate({ timestamp: Date.now() - 30_000 });
      const answer = await this.post('/api/totp/confirm', { code });
      return answer.ok && answer;
    });
    const { recoveryCodes } = (await confirmed.json()) as { recoveryCodes: string[] };
    return { device, recoveryCodes };
  }
}

export async function newcomer(relay: Relay): Promise<Visit & { email: string }> {
  const email = `${newId()}@example.com`;
  return Object.assign(await Visit.of(relay, await signUp(relay, email)), { email });
}

export async function codeOf(response: Response): Promise<string | undefined> {
  const body = (await response.json().catch(() => ({}))) as { error?: { code: string } };
  return body.error?.code;
}
