import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { instantPng } from '#apps/sandbox-upstream/images.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const EDITS = '/v1/images/edits';
const FIELDS = { model: 'vendora-imagine-edit', prompt: 'at night' };
/** Two such bodies exceed the share that one account may have, three quarters of two megabytes. One does not. */
const HALF = 900_000;
const SLOWLY = 'slowly';
const picture = (bytes = HALF) => Buffer.concat([instantPng, Buffer.alloc(bytes)]);

describe('large bodies, together', () => {
  let relay: Relay;
  let upstream: GatedUpstream;
  let customer: Customer;
  let pictures: Server;
  /** An image of which everything but its end was sent. */
  let begun: ServerResponse | undefined;

  beforeAll(async () => {
    relay = await startRelay({ BODY_MEMORY_MEGABYTES: '2', PICTURE_URLS_MAY_BE_PRIVATE: 'true' });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    pictures = createServer(({ url }, response) => {
      if (url !== '/begun.png') return void response.end(picture());
      begun = response;
      response.write(picture());
    });
    await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    pictures.close();
    await closeClean(relay);
    await upstream.close();
  });
  beforeEach(async () => {
    customer = await relay.customer('1');
  });
  afterEach(async () => {
    await until('the memory to be free', async () => (await inMemory()) === 0);
  });

  async function inMemory(): Promise<number> {
    const { values } = (await relay.registry.getSingleMetric('gateway_body_memory_bytes')?.get()) ?? {
      values: [],
    };
    return values[0]?.value ?? NaN;
  }

  const form = (bytes?: number, prompt = FIELDS.prompt): RequestInit => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...FIELDS, prompt })) body.set(name, value);
    body.set('image', new Blob([new Uint8Array(picture(bytes))]), 'a.png');
    return { method: 'POST', body };
  };
  const base64 = (bytes?: number) => json({ ...FIELDS, image: picture(bytes).toString('base64') });

  /** The same body without its length. */
  async function chunked(init: RequestInit): Promise<RequestInit> {
    const request = new Request('http://localhost', init);
    const body = new Blob([await request.arrayBuffer()]).stream();
    const type = request.headers.get('content-type') ?? '';
    return { method: 'POST', body, headers: { 'content-type': type }, duplex: 'half' };
  }

  /** Begins an edit that waits for the upstream, and returns once it is in progress. */
  async function atWork(init?: RequestInit): Promise<{ response: Promise<Response>; leave: () => void }> {
    upstream.shut(/slowly/);
    const leaving = new AbortController();
    const busy = await relay.customer('1');
    const slow = init ?? form(HALF, SLOWLY);
    const begin = () => {
      const begun = busy.send(EDITS, { ...slow, signal: leaving.signal });
      begun.catch(() => undefined);
      return begun;
    };
    let response = begin();
    await until('the hold', async () => {
      // A refused request from an earlier test may still take up a place.
      const status = await Promise.race([response.then((each) => each.status), busy.balance().then(() => 0)]);
      if (status === 429) response = begin();
      return (await busy.balance()).held !== '0';
    });
    return { response, leave: () => leaving.abort() };
  }

  async function expectRefusal(init: RequestInit): Promise<void> {
    const response = await customer.send(EDITS, init);
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    const { rows } = await relay.fixture.billing.query('SELECT 1 FROM charges WHERE account_id = $1', [
      customer.accountId,
    ]);
    expect(rows).toEqual([]);
  }

  // The first, because the memory is kept for a while for customers who were refused.
  it('count fetched images as they arrive', async () => {
    const { address, port } = pictures.address() as AddressInfo;
    const image = `http://${address}:${port}/begun.png`;
    const answer = customer.send(EDITS, json({ ...FIELDS, image }));
    await until('its bytes to be counted', async () => (await inMemory()) >= HALF);
    begun?.end();
    expect((await answer).status).toBe(200);
  });

  it('are refused for the moment if they do not fit, before anything is held, in every form', async () => {
    const { response } = await atWork();
    for (const init of [form(), base64(), await chunked(form()), await chunked(base64())])
      await expectRefusal(init);
    expect((await customer.send(EDITS, form(1_000))).status).toBe(200);
    const image = json({ model: 'vendora-imagine-image', prompt: 'of a text alone' });
    expect((await customer.send('/v1/images/generations', image)).status).toBe(200);
    upstream.open();
    expect((await response).status).toBe(200);
    await until('the memory to be free', async () => (await inMemory()) === 0);
    expect((await customer.send(EDITS, form())).status).toBe(200);
  });

  it.each([
    ['a form', async () => form(HALF * 3)],
    ['base64', async () => base64(HALF * 3)],
    ['a form of unknown length', () => chunked(form(HALF * 3))],
    ['base64 of unknown length', () => chunked(base64(HALF * 3))],
  ])('are refused permanently if they would not even fit alone: %s', async (_name, init) => {
    // A body of unknown length is only counted as it arrives. A request of an earlier test may have to wait until then.
    const answer = await until('the refusal', async () => {
      const response = await customer.send(EDITS, await init());
      const body = (await response.json()) as { error?: { code: string } };
      return response.status === 429 ? null : { status: response.status, body };
    });
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'request_too_large' } } });
  });

  it('count the images that are fetched for them', async () => {
    const { address, port } = pictures.address() as AddressInfo;
    const named = (prompt: string) => json({ ...FIELDS, prompt, image: `http://${address}:${port}/a.png` });
    const { response } = await atWork(named(SLOWLY));
    expect(await inMemory()).toBeGreaterThan(HALF);
    await expectRefusal(named('at night'));
    upstream.open();
    expect((await response).status).toBe(200);
  });

  it('count while their work continues, even after their client has left', async () => {
    const { leave } = await atWork();
    leave();
    await expectRefusal(form());
    upstream.open();
  });
});
