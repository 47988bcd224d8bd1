import createClient, { type Client } from 'openapi-fetch';
import type { Role } from '#identity/role.js';
import { SessionStore } from '#identity/session.store.js';
import { newId } from '#platform/ids.js';
import type { paths } from '#apps/console/api/schema.js';
import type { Relay } from './relay.js';

export type ConsoleClient = Client<paths>;

/** Somebody at the console, with a session. */
export interface Person {
  userId: string;
  accountId: string;
  email: string;
  /** The client that is generated from the OpenAPI document, with the session's cookie and token. */
  api: ConsoleClient;
  /** A raw request of the session. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

const LIFE = { idleMs: 3_600_000, longestMs: 3_600_000, rotateMs: 3_600_000 };

/** A client of the control plane without a session. */
export function visitor(
  relay: Pick<Relay, 'consoleUrl'>,
  headers: Record<string, string> = {},
): ConsoleClient {
  return createClient<paths>({ baseUrl: relay.consoleUrl, headers });
}

/**
 * A person with these roles, signed in: on a new account with so much credit, or on the account that is given. It has no
 * password; a test of signing in signs up for itself.
 */
export async function person(
  relay: Pick<Relay, 'consoleUrl' | 'fixture'>,
  options: { roles?: readonly Role[]; credits?: string; accountId?: string } = {},
): Promise<Person> {
  const { fixture, consoleUrl } = relay;
  const accountId =
    options.accountId ?? (await fixture.account({ credits: options.credits ?? '0' })).accountId;
  const userId = newId();
  const email = `${userId}@example.com`;
  await fixture.billing.query(
    'INSERT INTO users (id, account_id, email, password_hash, roles) VALUES ($1, $2, $3, $4, $5)',
    [userId, accountId, email, 'none', ['user', ...(options.roles ?? [])]],
  );
  const session = await new SessionStore(fixture.billing, LIFE).open({ userId, ip: null, userAgent: null });
  const headers = { cookie: `tollgate_session=${session.token}`, 'x-csrf-token': session.csrfToken };
  return {
    userId,
    accountId,
    email,
    api: visitor({ consoleUrl }, headers),
    send: (path, init = {}) =>
      fetch(consoleUrl + path, {
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string>) },
      }),
  };
}
