import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Stripe from 'stripe';
import { roles } from '#identity/role.js';
import { type Person, person } from '../support/console.js';
import { forEachOf, requestOf, routesOf, urlOf, type WalkedRoute } from '../support/console-routes.js';
import { type Relay, startRelay } from '../support/relay.js';
import { sampleOf, type SampledSchema } from '../support/schema-samples.js';
import { StripeStandIn } from '../support/stripe.js';

let relay: Relay;
let stripe: StripeStandIn;
let someone: Person;
let routes: WalkedRoute[];

beforeAll(async () => {
  stripe = await StripeStandIn.start();
  relay = await startRelay(stripe.environment);
  someone = await person(relay, { roles: roles.filter((role) => role !== 'user') });
  routes = await routesOf(relay);
});
afterAll(async () => {
  await relay?.close();
  await stripe?.close();
});

const NO_TIMES = [
  '2026-03-19T23:55:51-17:26',
  '2026-03-19T23:55:51+23:59',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '2026-02-30T00:00:00Z',
  '2026-01-31 00:00:00',
  'now',
  'infinity',
  '-infinity',
  '2026-01-31T24:00:01Z',
  '+012026-01-31T00:00:00Z',
  '2026-01-31T00:00:00.000000000000000000001+14:01',
];
const NO_DAYS = ['0000-01-01', '0001-01-01', '9999-12-31', '2026-02-30', '2026-13-01', 'infinity', 'today'];
const FORMATS: Record<string, string[]> = { 'date-time': NO_TIMES, date: NO_DAYS };

function formatOf(schema: SampledSchema): string[] | undefined {
  const choice = (schema.anyOf ?? schema.oneOf ?? [schema]).find(({ format }) => format !== undefined);
  return FORMATS[choice?.format ?? ''];
}

/** The choices that a query must make, and the times that it may need. */
function choicesOf({ query }: WalkedRoute): Record<string, string> {
  const chosen = Object.entries(query).filter(([, schema]) => schema.enum || formatOf(schema));
  return Object.fromEntries(chosen.map(([name, schema]) => [name, String(sampleOf(schema, name))]));
}

describe('impossible times and days', () => {
  it('are refused by name, in the query of every route', async () => {
    const tries = routes.flatMap((route) =>
      Object.entries(route.query).flatMap(([name, schema]) =>
        (formatOf(schema) ?? []).map((value) => ({ route, name, value })),
      ),
    );
    expect(tries.length).toBeGreaterThan(200);
    await forEachOf(tries, async ({ route, name, value }) => {
      const query = new URLSearchParams({ ...choicesOf(route), [name]: value });
      const response = await someone.send(`${urlOf(route)}?${query.toString()}`, requestOf(route));
      const refusal = await faultOf(response);
      expect([route.id, value, response.status, refusal.param]).toEqual([route.id, value, 400, name]);
    });
  });

  it('are refused by name, in the body of every route', async () => {
    const tries = routes.flatMap((route) =>
      Object.entries(route.body?.properties ?? {}).flatMap(([name, schema]) =>
        (formatOf(schema) ?? []).map((value) => ({ route, name, value })),
      ),
    );
    expect(tries.length).toBeGreaterThan(50);
    await forEachOf(tries, async ({ route, name, value }) => {
      const body = { ...(sampleOf(route.body!, route.id) as object), [name]: value };
      const response = await someone.send(urlOf(route), requestOf(route, body));
      const refusal = await faultOf(response);
      expect([route.id, value, response.status, refusal.param]).toEqual([route.id, value, 400, name]);
    });
  });

  it('are refused in a cursor', async () => {
    const paged = routes.filter(({ query, method }) => 'cursor' in query && method === 'GET');
    expect(paged.length).toBeGreaterThan(20);
    const times = [
      '0000-01-01 00:00:00+00',
      '2026-01-01 00:00:00+17',
      '2026-02-30 00:00:00+00',
      '0000-01-01',
    ];
    const keys = times.flatMap((time) => [
      [time],
      [time, '1'],
      [time, '1', '1'],
      [`1 1 1 ${time} ${time} ${time}`],
    ]);
    const tries = paged.flatMap((route) => keys.map((key) => ({ route, key })));
    await forEachOf(tries, async ({ route, key }) => {
      const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
      const query = new URLSearchParams({ ...choicesOf(route), cursor });
      const response = await someone.send(`${urlOf(route)}?${query.toString()}`);
      await response.arrayBuffer();
      // A busy machine may answer 503, but only a fault answers 500.
      expect([route.id, key, response.status === 500]).toEqual([route.id, key, false]);
    });
  });
});

describe('events of a payment provider', () => {
  const signer = new Stripe('sk_test_of_the_tests');
  const now = () => Math.floor(Date.now() / 1000);

  function deliver(payload: string | Buffer, timestamp = now()): Promise<Response> {
    const { webhookSecret: secret } = StripeStandIn;
    const signature = signer.webhooks.generateTestHeaderString({
      payload: payload.toString(),
      secret,
      timestamp,
    });
    return fetch(`${relay.consoleUrl}/api/payments/events/stripe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
      body: payload,
    });
  }

  const event = (changed: object = {}, object: object = {}) => ({
    id: 'evt_1',
    object: 'event',
    type: 'checkout.session.completed',
    created: now(),
    data: {
      object: {
        id: 'cs_1',
        object: 'checkout.session',
        client_reference_id: null,
        payment_status: 'paid',
        payment_intent: 'pi_1',
        amount_total: 100,
        currency: 'usd',
        ...object,
      },
    },
    ...changed,
  });

  it.each([
    ['a day ahead', 86_400, 400],
    ['an hour old', -3_600, 400],
    ['a minute ahead', 60, 200],
    ['a minute old', -60, 200],
  ])('are accepted within minutes of being signed: %s', async (_, shift, status) => {
    const payload = JSON.stringify(event({ id: `evt_${shift}`, type: 'customer.created' }));
    expect((await deliver(payload, now() + shift)).status).toBe(status);
  });

  it.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['no id', JSON.stringify(event({ id: undefined }))],
    ['an id with a NUL', JSON.stringify(event({ id: 'evt_\u0000' }))],
    ['no time', JSON.stringify(event({ created: undefined }))],
    ['a time beyond all times', JSON.stringify(event({ created: 1e15 }))],
    ['no object', JSON.stringify(event({ data: {} }))],
    ['no data', JSON.stringify(event({ data: null }))],
    ['half a cent', JSON.stringify(event({}, { amount_total: 1.5 }))],
    ['more than there is', JSON.stringify(event({}, { amount_total: 1e300 }))],
    ['an amount that is a text', JSON.stringify(event({}, { amount_total: '100' }))],
    ['no payment', JSON.stringify(event({}, { payment_intent: {} }))],
    ['an invalid currency', JSON.stringify(event({}, { currency: 'dollars' }))],
    ['an order with a NUL', JSON.stringify(event({}, { client_reference_id: 'a\u0000' }))],
    ['a refund without an amount', JSON.stringify(event({ type: 'refund.updated' }, { amount: undefined }))],
    [
      'a dispute without an amount',
      JSON.stringify(event({ type: 'charge.dispute.created' }, { status: 'lost' })),
    ],
  ])('are refused if signed but unreadable: %s', async (_, payload) => {
    const response = await deliver(payload);
    const { code } = await faultOf(response);
    expect([response.status, String(code).startsWith('invalid_')]).toEqual([400, true]);
    const { rows } = await relay.fixture.owner.query(`SELECT FROM payment_events WHERE event_id = 'evt_1'`);
    expect(rows).toEqual([]);
  });

  it.each(['', '{', '\u0000', '{"a":', '[[[[', 'x'.repeat(1000), '\ud800'])(
    'do no harm with any other body to a public route: %j',
    async (body) => {
      const open = routes.filter(({ access, isUnsafe }) => access === 'public' && isUnsafe);
      expect(open.length).toBeGreaterThan(5);
      await forEachOf(open, async (route) => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(relay.consoleUrl + urlOf(route), {
          method: route.method,
          headers,
          body,
        });
        await response.arrayBuffer();
        expect([route.id, response.status >= 400 && response.status < 500]).toEqual([route.id, true]);
      });
    },
  );
});

async function faultOf(response: Response): Promise<{ code?: string; param?: string | null }> {
  const body = (await response.json().catch(() => ({}))) as {
    error?: { code: string; param: string | null };
  };
  return body.error ?? {};
}
