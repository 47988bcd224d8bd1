import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roles } from '#identity/role.js';
import { errorTable } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import {
  forEachOf,
  isAllowed,
  requestOf,
  roleFor,
  routesOf,
  urlOf,
  type WalkedRoute,
} from '../support/console-routes.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { sampleOf, type SampledSchema, typeOf } from '../support/schema-samples.js';

/**
 * Walks every route in the control plane's OpenAPI document. A new route is included from the start, and fails if
 * nobody has an example of its parameters.
 */
let relay: Relay;
let routes: WalkedRoute[];
let foreign: Record<string, string>;

beforeAll(async () => {
  relay = await startRelay({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  routes = await routesOf(relay);
  foreign = await examplesOf(await person(relay, { credits: '10' }));
});
afterAll(() => relay?.close());

/** What belongs to the house, so nobody else can have one. */
const OF_THE_HOUSE: Record<string, string> = {
  model: 'vendora-imagine-image',
  modelId: 'vendora-imagine-image',
  group: 'Vendora-Main',
  groupName: 'Vendora-Main',
  channelId: 'sandbox',
  provider: 'sandbox',
  proposalId: newId(),
  rule: 'fixed_per_call',
  ledgerAccountId: '1',
  transactionId: '1',
  controlId: 'holds',
  findingId: '1',
  adjustmentId: newId(),
  writeOffId: newId(),
  bankAccountId: 'house',
  bankLineId: '1',
  lineId: 'txn_1',
  periodId: '1',
  letterId: '1',
  month: '2026-01',
  alias: 'vendora-imagine-video-1.5-preview',
};

/** Bodies that no schema describes, by route ID. */
const BODIES: Record<string, unknown> = {};

/** One real example of everything that an account or a person has, by parameter name. */
async function examplesOf(owner: Person): Promise<Record<string, string>> {
  const { accountId, userId } = owner;
  const ticket = await owner.api.POST('/api/tickets', {
    body: { kind: 'question', subject: 'Mine', body: 'Nobody else may read this.' },
  });
  const endpoint = await owner.api.POST('/api/webhooks', {
    body: { url: 'http://127.0.0.1:9/', events: ['topup.credited'] },
  });
  const endpointId = endpoint.data!.id;
  const { rows: keys } = await relay.fixture.billing.query<{ id: string }>(
    'SELECT id FROM api_keys WHERE account_id = $1',
    [accountId],
  );
  const ping = await owner.api.POST('/api/webhooks/{endpointId}/pings', { params: { path: { endpointId } } });
  const { rows: sessions } = await relay.fixture.billing.query<{ id: string }>(
    'SELECT id FROM sessions WHERE user_id = $1',
    [userId],
  );
  const chargeId = await paidCharge();
  return {
    accountId,
    userId,
    personId: userId,
    ticketId: ticket.data!.id,
    endpointId,
    deliveryId: ping.data!.id,
    keyId: keys[0]!.id,
    sessionId: sessions[0]!.id,
    chargeId,
    image: `${chargeId}-0.png`,
    approvalId: await approvalOf(owner),
    exportId: await exportOf(owner),
    orderId: await orderOf(owner),
    taskId: await taskOf(owner),
    ...(await paymentsOf(owner)),
  };
}

async function paidCharge(): Promise<string> {
  const customer = await relay.customer('1');
  await customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image', prompt: 'a boat' }));
  let chargeId = '';
  await until('a charge', async () => {
    const { rows } = await relay.fixture.billing.query<{ id: string }>(
      `SELECT id FROM charges WHERE account_id = $1 AND state = 'settled'`,
      [customer.accountId],
    );
    chargeId = rows[0]?.id ?? '';
    return chargeId !== '';
  });
  return chargeId;
}

async function approvalOf({ userId, accountId }: Person): Promise<string> {
  const approvalId = newId();
  await relay.fixture.owner.query(
    `INSERT INTO approvals (id, kind, subject, account_id, payload, reason, requested_by, request_id)
     VALUES ($1, 'charge.refund', 'charge:x', $2, '{}', 'because', $3, $1)`,
    [approvalId, accountId, userId],
  );
  return approvalId;
}

async function exportOf({ accountId }: Person): Promise<string> {
  const exportId = newId();
  await relay.fixture.owner.query(
    `INSERT INTO data_exports (id, account_id, state, ready_at, expires_at) VALUES ($1, $2, 'ready', now(), now() + interval '1 day')`,
    [exportId, accountId],
  );
  return exportId;
}

async function orderOf({ accountId }: Person): Promise<string> {
  const orderId = newId();
  await relay.fixture.owner.query(
    `INSERT INTO topup_orders (id, account_id, request_id, request, provider, credits, paid_minor, currency, rate, expires_at, next_check_at)
     VALUES ($1, $2, $1, '{}', 'sandbox', 1000000000, 130, 'USD', 1.3, now() + interval '1 day', now() + interval '1 day')`,
    [orderId, accountId],
  );
  return orderId;
}

async function taskOf(owner: Person): Promise<string> {
  const key = await owner.api.POST('/api/keys', { body: { name: 'of a task', group: 'Vendora-Main' } });
  const authorization = `Bearer ${key.data!.apiKey}`;
  const body = { model: 'vendora-imagine-video', prompt: 'a boat' };
  const response = await fetch(`${relay.baseUrl}/v1/videos`, json(body, { authorization }));
  return ((await response.json()) as { id: string }).id;
}

/** The IDs of payments. */
async function paymentsOf({ accountId }: Person): Promise<Record<string, string>> {
  const { rows } = await relay.fixture.billing.query<{ id: string }>(
    'SELECT id FROM topups WHERE account_id = $1',
    [accountId],
  );
  return { topupId: rows[0]!.id, refundId: newId(), itemId: newId(), eventId: newId() };
}

interface Answer {
  status: number;
  code: string | null;
  message: string | null;
}

async function answerOf(response: Response): Promise<Answer> {
  // An event stream has no end to wait for.
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, code: null, message: null };
  }
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
  const body = (isJson ? JSON.parse(text) : null) as { error?: { code: string; message: string } } | null;
  return { status: response.status, code: body?.error?.code ?? null, message: body?.error?.message ?? null };
}

const named = ({ method, path }: WalkedRoute, { status, code }: Answer) =>
  `${method} ${path}: ${status} ${code}`;

function ask(route: WalkedRoute, values: Record<string, string>, init: RequestInit = {}): Promise<Response> {
  const request = requestOf(route, BODIES[route.id]);
  const headers = { ...(request.headers as object), ...(init.headers as object) };
  return fetch(relay.consoleUrl + urlOf(route, values), { ...request, ...init, headers });
}

/** A payment provider proves itself by its signature. The sandbox's own page needs none. */
function isOfProvider(path: string): boolean {
  return path.startsWith('/api/payments/events/') || path.startsWith('/sandbox-pay/');
}

describe('every route', () => {
  it('has an example of what its path names', () => {
    const names = routes.flatMap(({ access, params }) => (access === 'public' ? [] : Object.keys(params)));
    const unknown = [...new Set(names)].filter((name) => !(name in foreign) && !(name in OF_THE_HOUSE));
    expect(unknown).toEqual([]);
  });

  it('has a rule that names known roles', () => {
    const odd = routes.filter(
      ({ access }) =>
        access !== 'public' && (access.length === 0 || access.some((role) => !roles.includes(role))),
    );
    expect(odd).toEqual([]);
    const open = routes.filter(({ access, path }) => access === 'public' && !path.startsWith('/api/public/'));
    expect(open.map(({ path }) => path).filter((path) => !isOfProvider(path))).toEqual([]);
  });

  it('answers nobody without a session, unless it is public', async () => {
    const faults: string[] = [];
    await forEachOf(routes, async (route) => {
      const answer = await answerOf(await ask(route, foreign));
      const isRefused = answer.status === 401 && answer.code === 'not_signed_in';
      if (isRefused === (route.access === 'public') || answer.status >= 500)
        faults.push(named(route, answer));
    });
    expect(faults).toEqual([]);
  });

  it.each(roles)('refuses %s what is another role’s, even with somebody else’s IDs', async (role) => {
    const caller = await person(relay, { roles: [role] });
    const denied = routes.filter((route) => !isAllowed(route, role));
    const faults: string[] = [];
    await forEachOf(denied, async (route) => {
      const answer = await answerOf(
        await ask(route, { ...OF_THE_HOUSE, ...foreign }, { headers: caller.headers }),
      );
      if (answer.status !== 403 || answer.code !== 'forbidden') faults.push(named(route, answer));
    });
    expect(faults).toEqual([]);
  });

  it.each(roles)('lets %s in if its rule says so', async (role) => {
    const faults: string[] = [];
    const allowed = routes.filter((route) => isAllowed(route, role));
    await forEachOf(allowed, async (route) => {
      // A new person for each route, because some routes end the session that calls them.
      const caller = await person(relay, { roles: [role] });
      const answer = await answerOf(await ask(route, {}, { headers: caller.headers }));
      const isRefused = answer.code === 'not_signed_in' || answer.message?.startsWith('This needs the role');
      if (isRefused || answer.status >= 500) faults.push(named(route, answer));
    });
    expect(faults).toEqual([]);
  });

  it.each(roles)('shows %s nothing of somebody else’s if everybody has their own', async (role) => {
    const faults: string[] = [];
    const own = routes.filter(
      ({ access, params }) =>
        access !== 'public' && access.includes('user') && Object.keys(params).some((name) => name in foreign),
    );
    expect(own.length).toBeGreaterThan(10);
    await forEachOf(own, async (route) => {
      const caller = await person(relay, { roles: [role] });
      const answer = await answerOf(
        await ask(route, { ...OF_THE_HOUSE, ...foreign }, { headers: caller.headers }),
      );
      if (answer.status !== 404) faults.push(named(route, answer));
    });
    expect(faults).toEqual([]);
  });
});

describe('forged requests', () => {
  it('are refused wherever they would change something', async () => {
    const faults: string[] = [];
    const unsafe = routes.filter(({ isUnsafe }) => isUnsafe);
    await forEachOf(unsafe, async (route) => {
      const { headers } = await person(relay, { roles: [roleFor(route)] });
      const { cookie } = headers;
      const forgeries: Record<string, string>[] = [
        { ...headers, origin: 'https://evil.example' },
        { ...headers, origin: 'null' },
        { ...headers, 'sec-fetch-site': 'cross-site' },
        ...(route.access === 'public' ? [] : [{ cookie }, { cookie, 'x-csrf-token': 'x'.repeat(43) }]),
      ];
      if (!route.isGuarded) return;
      for (const forged of forgeries) {
        const answer = await answerOf(await ask(route, foreign, { headers: forged }));
        if (answer.status !== 403 || answer.code !== 'csrf_rejected') faults.push(named(route, answer));
      }
    });
    expect(faults).toEqual([]);
    const unguarded = unsafe.filter(({ isGuarded, needsToken, access }) =>
      access === 'public' ? !isGuarded : !isGuarded || !needsToken,
    );
    expect(unguarded.map(({ path }) => path).filter((path) => !path.startsWith('/api/payments/'))).toEqual(
      [],
    );
  });
});

/** A wrong request. `refused` ones must get a 4xx; others may pass, but never break the service. */
interface BadRequest {
  what: string;
  url: string;
  init: RequestInit;
  isRefused: boolean;
}

const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '💥',
  '-1',
  '1e999',
  '../../etc/passwd',
  `'; DROP TABLE users; --`,
];
const LONG = 'x'.repeat(50_000);
const ODD_PATHS = [
  '%00',
  '..%2f..%2fetc%2fpasswd',
  'x'.repeat(190),
  'x'.repeat(300),
  '%F0%9F%92%A5',
  `'--`,
  '%',
  '%zz',
];
const ODD_NUMBERS = [-1, 0, 1.5, 1e308, 2 ** 53 + 2];
const ODD_CURSORS = ['x', ...['["x"]', '["x","y"]', '["2020-99-99","-1","0"]', '[null]', '{}'].map(encoded)];

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function badRequests(route: WalkedRoute): BadRequest[] {
  return [...badPaths(route), ...badQueries(route), ...badBodies(route)];
}

function badPaths(route: WalkedRoute): BadRequest[] {
  return Object.keys(route.params).flatMap((name) =>
    ODD_PATHS.map((value) => ({
      what: `${name} = ${value.slice(0, 30)}`,
      url: urlOf(route, { [name]: value }),
      init: requestOf(route, BODIES[route.id]),
      isRefused: true,
    })),
  );
}

function badQueries(route: WalkedRoute): BadRequest[] {
  const bad = (name: string, value: string, isRefused: boolean): BadRequest => ({
    what: `?${name}=${value.slice(0, 30)}`,
    url: `${urlOf(route)}?${name}=${encodeURIComponent(value.toWellFormed())}`,
    init: requestOf(route, BODIES[route.id]),
    isRefused,
  });
  const twice = { ...bad('limit', '1', true), url: `${urlOf(route)}?limit=1&limit=2` };
  return [
    bad('no-such-field', '1', true),
    ...('limit' in route.query
      ? ['abc', '-1', '0', '1e9', '1.5'].map((value) => bad('limit', value, true))
      : []),
    ...('limit' in route.query ? [twice] : []),
    ...('cursor' in route.query ? ODD_CURSORS.map((value) => bad('cursor', value, false)) : []),
    ...Object.keys(route.query).flatMap((name) =>
      [...ODD_TEXTS, 'x'.repeat(4_000)].map((value) => bad(name, value, false)),
    ),
  ];
}

function badBodies(route: WalkedRoute): BadRequest[] {
  const { body: schema, consumes, method } = route;
  if (!schema || !consumes) return [];
  const bad = (what: string, body: string, isRefused = true, type = consumes): BadRequest => ({
    what,
    url: urlOf(route),
    isRefused,
    init: { method, body, headers: type === '' ? {} : { 'content-type': type } },
  });
  const texts = [
    bad('nothing', '', consumes === 'application/json'),
    bad('broken JSON', '{"a":'),
    bad('a NUL', '\u0000'),
    bad('deep nesting', '['.repeat(100_000)),
    bad('two megabytes', JSON.stringify({ pad: 'x'.repeat(2_000_000) })),
  ];
  if (consumes !== 'application/json') return texts;
  const sample = BODIES[route.id] ?? sampleOf(schema, route.id);
  const values = [null, [], 'text', 12, true].map((value) => bad(`a ${typeof value}`, JSON.stringify(value)));
  return [
    ...texts,
    ...values,
    bad('a prototype', '{"__proto__":{"admin":true}}'),
    bad('an unknown field', JSON.stringify({ ...(sample as object), 'no-such-field': 1 })),
    bad('another type', JSON.stringify(sample), true, 'text/plain'),
    bad('a form', 'a=b', true, 'application/x-www-form-urlencoded'),
    ...badFields(schema, sample as Record<string, unknown>).map(([what, value, isRefused]) =>
      bad(what, JSON.stringify(value), isRefused),
    ),
  ];
}

function badFields(schema: SampledSchema, sample: Record<string, unknown>): [string, unknown, boolean][] {
  const fields = Object.entries(schema.properties ?? {});
  return fields.flatMap(([name, field]): [string, unknown, boolean][] => {
    const { [name]: _, ...without } = sample;
    const wrong = WRONG[typeOf(field) ?? ''] ?? [];
    const odd = typeOf(field) === 'string' ? [...ODD_TEXTS, LONG] : ODD_NUMBERS;
    return [
      ...((schema.required ?? []).includes(name)
        ? [[`no ${name}`, without, true] as [string, unknown, boolean]]
        : []),
      ...wrong.map((value): [string, unknown, boolean] => [
        `${name} = ${JSON.stringify(value)}`,
        { ...sample, [name]: value },
        true,
      ]),
      ...odd.map((value): [string, unknown, boolean] => [
        `${name} = ${String(value).slice(0, 30)}`,
        { ...sample, [name]: value },
        false,
      ]),
    ];
  });
}

/** Values that are never valid for a type. */
const WRONG: Record<string, unknown[]> = {
  string: [12, true, {}, ['x']],
  integer: ['x', {}, [1], true],
  number: ['x', {}, [1], true],
  boolean: ['yes', 1, {}],
  array: [{}, 'x', 1],
  object: ['x', [], 1],
};

/** Words from code and the database. */
const LEAKS =
  /\bat .+\.[jt]s:\d+|node_modules|\bSELECT\b|INSERT INTO|violates|syntax error|invalid input syntax/;

function tellsTooMuch(text: string): boolean {
  return LEAKS.test(text) || text.includes(process.cwd());
}

/** An error from the error table, with its own status. */
function isError(status: number, text: string): boolean {
  try {
    const { error } = JSON.parse(text) as {
      error: { code: keyof typeof errorTable; message: string; type: string };
    };
    const { status: expected, type } = errorTable[error.code];
    return expected === status && type === error.type && error.message.length > 0;
  } catch {
    return false;
  }
}

describe('bad input', () => {
  it('is refused in the error format, or does no harm, on every route', async () => {
    const faults: string[] = [];
    await forEachOf(routes, async (route) => {
      const newCaller = () => person(relay, { roles: [roleFor(route)], credits: '1' });
      let caller = await newCaller();
      for (const { what, url, init, isRefused } of badRequests(route)) {
        const headers = { ...caller.headers, ...(init.headers as Record<string, string>) };
        const response = await fetch(relay.consoleUrl + url, { ...init, headers });
        const text = await response.text();
        const fault = (why: string) =>
          faults.push(`${route.method} ${route.path} with ${what}: ${why} ${text.slice(0, 200)}`);
        if (response.status >= 500) fault(String(response.status));
        else if (isRefused && response.status < 400) fault(`passed with ${response.status}`);
        else if (response.status >= 400 && tellsTooMuch(text)) fault('tells too much');
        else if (response.status >= 400 && !isError(response.status, text))
          fault(`${response.status} in another shape`);
        // A request that passed may have ended the session.
        if (response.status === 401) caller = await newCaller();
      }
    });
    expect(faults).toEqual([]);
    await expectCleanLedger(relay);
  });
});
