import createClient, { type Client } from 'openapi-fetch';
import type pg from 'pg';
import type { Role } from '#identity/role.js';
import { SessionStore } from '#identity/session.store.js';
import { newId } from '#platform/ids.js';
import type { paths } from '#apps/console/api/schema.js';
import type { GatewayDocument } from '#apps/gateway/openapi/openapi.document.js';
import { Contract } from './openapi.js';
import type { Relay } from './relay.js';

export type ConsoleClient = Client<paths>;

/** A signed-in person. */
export interface Person {
  userId: string;
  accountId: string;
  email: string;
  /** The session's cookie and token. */
  headers: { cookie: string; 'x-csrf-token': string };
  /** The client generated from the OpenAPI document, with the session's cookie and token. */
  api: ConsoleClient;
  /** Sends a raw request in the session. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

const LIFE = { idleMs: 3_600_000, longestMs: 3_600_000, rotateMs: 3_600_000, confirmedMs: 3_600_000 };

const contracts = new Map<string, Promise<Contract>>();
/** By the text of the document, which is the same for most relays. Compiling all of its schemas takes two seconds. */
const knownContracts = new Map<string, Contract>();

/** A control plane's OpenAPI document, and the checks against it. */
export function contractOf(consoleUrl: string): Promise<Contract> {
  let contract = contracts.get(consoleUrl);
  if (!contract) {
    contract = fetch(`${consoleUrl}/api/openapi.json`)
      .then((response) => response.text())
      .then(contractFor);
    contracts.set(consoleUrl, contract);
  }
  return contract;
}

function contractFor(text: string): Contract {
  const contract = knownContracts.get(text) ?? new Contract(JSON.parse(text) as GatewayDocument);
  knownContracts.set(text, contract);
  return contract;
}

/** A fetch that fails if an answer does not match the control plane's own OpenAPI document. */
function checkingFetch(
  consoleUrl: string,
): (input: string | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { method, url } = input instanceof Request ? input : { method: init?.method ?? 'GET', url: input };
    const contract = await contractOf(consoleUrl);
    const found = contract.find(method, url);
    if (found) await contract.check(found.operation, response.clone());
    return response;
  };
}

/** A client of the control plane without a session. */
export function visitor(
  relay: Pick<Relay, 'consoleUrl'>,
  headers: Record<string, string> = {},
): ConsoleClient {
  const { consoleUrl } = relay;
  return createClient<paths>({ baseUrl: consoleUrl, headers, fetch: checkingFetch(consoleUrl) });
}

/**
 * A signed-in person with these roles, on a new account with these credits or on the given account. They have no
 * password; tests of signing in sign people up themselves.
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
  const headers = await sessionOf(fixture.billing, userId);
  return {
    userId,
    accountId,
    email,
    headers,
    api: visitor({ consoleUrl }, headers),
    send: (path, init = {}) =>
      checkingFetch(consoleUrl)(consoleUrl + path, {
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string>) },
      }),
  };
}

/** The headers of a new session. */
export async function sessionOf(billing: pg.Pool, userId: string): Promise<Person['headers']> {
  const session = await new SessionStore(billing, LIFE).open({ userId, ip: null, userAgent: null });
  return { cookie: `tollgate_session=${session.token}`, 'x-csrf-token': session.csrfToken };
}
