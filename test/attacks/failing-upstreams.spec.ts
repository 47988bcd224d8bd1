import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { person } from '../support/console.js';

const PAGE = '<html><body><h1>nginx</h1></body></html>';
const ENVELOPE = JSON.stringify({ error: { message: 'It broke.', type: 'server_error', code: 'broken' } });
const TASK = JSON.stringify({ id: 'job-7', status: 'queued' });

/** A vendor that is asked first and answers each call as configured. */
class FailingVendor {
  answer: (response: ServerResponse) => void = (response) => response.destroy();
  calls = 0;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      request.resume().on('end', () => {
        this.calls += 1;
        this.answer(response);
      });
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  always(status: number, body: string): void {
    this.answer = (response) => {
      const type = body.startsWith('{') ? 'application/json' : 'text/html';
      response.writeHead(status, { 'content-type': type }).end(body);
    };
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const vendor = new FailingVendor();
const calls = {
  image: ['/v1/images/generations', { model: 'vendora-imagine-image', prompt: 'a fox' }],
  chat: ['/v1/chat/completions', { model: 'vendora-chat', messages: [{ role: 'user', content: 'hello' }] }],
  speech: ['/v1/audio/speech', { model: 'vendora-speech', input: 'hello', voice: 'alloy' }],
  video: ['/v1/videos', { model: 'vendora-imagine-video', prompt: 'a boat', seconds: '2' }],
} as const;
type Call = keyof typeof calls;
const send = (customer: Customer, call: Call) => customer.send(calls[call][0], json(calls[call][1]));

let relay: Relay;

async function addVendor(url: string): Promise<void> {
  const { owner } = relay.fixture;
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, priority, allow_private_address)
     VALUES ('failing', 'openai', $1, 'k', 9, true)`,
    [url],
  );
  await owner.query(
    `INSERT INTO channel_models SELECT 'failing', id, 'theirs' FROM models
     WHERE id = ANY ('{vendora-imagine-image,vendora-chat,vendora-speech,vendora-imagine-video}')`,
  );
  await owner.query(`INSERT INTO channel_groups VALUES ('failing', 'Vendora-Main')`);
}

beforeAll(async () => {
  relay = await startRelay({ UNCLEAR_CREATE_SECONDS: '1', CATALOG_LIFE_SECONDS: '0' });
  await addVendor(await vendor.start());
});
beforeEach(() => {
  vendor.calls = 0;
});
afterAll(async () => {
  await closeClean(relay);
  vendor.close();
});

async function setSandbox(enabled: boolean): Promise<void> {
  await relay.fixture.owner.query(`UPDATE channels SET enabled = $1 WHERE id = 'sandbox'`, [enabled]);
}

async function chargeOf(customer: Customer): Promise<{ id: string; state: string; channel: string | null }> {
  const { rows } = await relay.fixture.billing.query<{ id: string; state: string; channel: string | null }>(
    'SELECT id, state, channel_id AS channel FROM charges WHERE account_id = $1',
    [customer.accountId],
  );
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

const failures: [status: number, body: string][] = [
  [500, ENVELOPE],
  [500, PAGE],
  [502, PAGE],
  [502, ENVELOPE],
  [503, PAGE],
  [503, ENVELOPE],
];

describe('a failing channel', () => {
  it.each(
    failures.flatMap(([status, body]) =>
      (['image', 'chat', 'speech'] as const).map((call): [string, Call, number, string] => [
        body === PAGE ? 'a page' : 'an error',
        call,
        status,
        body,
      ]),
    ),
  )(
    'gives way to the next one, by the same rule for every family: %s for %s, %i',
    async (_what, call, status, body) => {
      vendor.always(status, body);
      const customer = await relay.customer('1');
      const answer = await send(customer, call);
      expect({ status: answer.status, calls: vendor.calls }).toEqual({ status: 200, calls: 1 });
      await answer.arrayBuffer();
      expect(await chargeOf(customer)).toMatchObject({ state: 'settled', channel: 'sandbox' });
    },
  );

  it.each([
    [500, ENVELOPE],
    [502, ENVELOPE],
    [503, ENVELOPE],
  ])('gives way for a video that was not begun, by the vendor’s own words: %i', async (status, body) => {
    vendor.always(status, body);
    const customer = await relay.customer('1');
    const answer = await send(customer, 'video');
    expect({ status: answer.status, calls: vendor.calls }).toEqual({ status: 200, calls: 1 });
    await until('the settlement', async () => (await chargeOf(customer)).state === 'settled');
    expect(await chargeOf(customer)).toMatchObject({ channel: 'sandbox' });
  });

  it.each(['image', 'chat', 'video'] as const)(
    'is never followed by a second job if it fell silent: %s',
    async (call) => {
      vendor.answer = (response) => response.destroy();
      const customer = await relay.customer('1');
      const answer = await send(customer, call);
      expect({ status: answer.status, calls: vendor.calls }).toEqual({
        status: call === 'video' ? 200 : 502,
        calls: 1,
      });
      await until('the release', async () => (await chargeOf(customer)).state === 'released');
      expect(await chargeOf(customer)).toMatchObject({ channel: 'failing' });
    },
  );
});

describe('the only channel, when it fails', () => {
  beforeAll(() => setSandbox(false));
  afterAll(() => setSandbox(true));

  it.each([500, 502, 503])('is a 503 at once for a video, and holds nothing: %i', async (status) => {
    vendor.always(status, ENVELOPE);
    const customer = await relay.customer('1');
    const answer = await send(customer, 'video');
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    const { id } = await chargeOf(customer);
    const staff = await person(relay, { roles: ['support'] });
    const { data } = await staff.api.GET('/api/support/charges/{chargeId}', {
      params: { path: { chargeId: id } },
    });
    expect(data?.upstream).toMatchObject({ channel: 'failing', status });
  });

  it.each([
    ['an id beside the error', 500, ENVELOPE.replace('{', '{"id":"job-7",')],
    ['the page of a proxy', 502, PAGE],
    ['a task under a status of failure', 503, TASK],
  ])(
    'leaves a video queued while it may be in progress, and its credits held for minutes at most: %s',
    async (_what, status, body) => {
      vendor.always(status, body);
      const customer = await relay.customer('1');
      const answer = await send(customer, 'video');
      const { id, status: word } = (await answer.json()) as { id: string; status: string };
      expect({ status: answer.status, word, calls: vendor.calls }).toEqual({
        status: 200,
        word: 'queued',
        calls: 1,
      });
      await until('the release', async () => (await customer.balance()).held === '0');
      expect(await (await customer.send(`/v1/videos/${id}`)).json()).toMatchObject({ status: 'failed' });
      expect(vendor.calls).toBe(1);
      const { rows } = await relay.fixture.owner.query('SELECT unbilled_cost FROM tasks WHERE id = $1', [id]);
      expect(rows).toEqual([{ unbilled_cost: expect.stringContaining('never became clear') }]);
    },
  );

  it('has its answer in the charge of a video that it refused', async () => {
    vendor.always(422, ENVELOPE);
    const customer = await relay.customer('1');
    expect((await send(customer, 'video')).status).toBe(422);
    const { id } = await chargeOf(customer);
    const staff = await person(relay, { roles: ['support'] });
    const { data } = await staff.api.GET('/api/support/charges/{chargeId}', {
      params: { path: { chargeId: id } },
    });
    expect(data).toMatchObject({ state: 'released', upstream: { channel: 'failing', status: 422 } });
  });
});
