import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { newId } from '#platform/ids.js';
import { parseAmount } from '#money/amount.js';
import { type Person, person } from '../support/console.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { recordTopup } from '../support/topups.js';
import { type Received, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let relay: Relay;
/** Gives deliveries up soon; the other relay never does. */
let hasty: Relay;
let receiver: WebhookReceiver;
let paths = 0;

beforeAll(async () => {
  const quick = {
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.05',
    WEBHOOK_RETRY_SECONDS: '0.05',
    WEBHOOK_LONGEST_RETRY_SECONDS: '0.1',
  };
  relay = await startRelay({ ...quick, BUS_CHAOS: 'duplicate', WEBHOOK_TIMEOUT_SECONDS: '60' });
  hasty = await startRelay({ ...quick, WEBHOOK_GIVE_UP_SECONDS: '1', WEBHOOK_TIMEOUT_SECONDS: '10' });
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await relay?.close();
  await hasty?.close();
  await receiver?.close();
});

type EventName = 'topup.credited' | 'balance.low' | 'video.completed' | 'video.failed' | 'charge.refunded';

const ALL: EventName[] = [
  'topup.credited',
  'balance.low',
  'video.completed',
  'video.failed',
  'charge.refunded',
];

interface Endpoint {
  id: string;
  secret: string;
  path: string;
  received(): Received[];
}

async function endpointOf(owner: Person, events: EventName[] = ALL): Promise<Endpoint> {
  paths += 1;
  const path = `/hooks/${paths}`;
  const { data } = await owner.api.POST('/api/webhooks', { body: { url: receiver.url + path, events } });
  if (!data) throw new Error('no endpoint was made');
  return { id: data.id, secret: data.secret, path, received: () => receiver.at(path) };
}

/** Reads a delivery as its receiver would. @throws Error if the signature is wrong */
function verified(secret: string, { body, headers }: Received) {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: EventName | 'ping';
    timestamp: string;
    data: Record<string, unknown>;
  };
}

async function deliveriesOf(owner: Person, endpointId: string) {
  const { data } = await owner.api.GET('/api/webhooks/{endpointId}/deliveries', {
    params: { path: { endpointId } },
  });
  return data?.items ?? [];
}

async function ping(owner: Person, endpointId: string): Promise<string> {
  const { data } = await owner.api.POST('/api/webhooks/{endpointId}/pings', {
    params: { path: { endpointId } },
  });
  if (!data) throw new Error('no ping was queued');
  return data.id;
}

async function detail(owner: Person, endpointId: string, deliveryId: string) {
  const { data } = await owner.api.GET('/api/webhooks/{endpointId}/deliveries/{deliveryId}', {
    params: { path: { endpointId, deliveryId } },
  });
  if (!data) throw new Error('there is no such delivery');
  return data;
}

async function ended(owner: Person, endpointId: string, deliveryId: string) {
  await until('the delivery to end', async () => {
    return (await detail(owner, endpointId, deliveryId)).state !== 'pending';
  });
  return detail(owner, endpointId, deliveryId);
}

describe('endpoints', () => {
  it('are created with a secret that is shown once, changed, and deleted', async () => {
    const owner = await person(relay);
    const endpoint = await endpointOf(owner, ['topup.credited', 'topup.credited']);
    expect(endpoint.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const params = { path: { endpointId: endpoint.id } };
    const { data: shown } = await owner.api.GET('/api/webhooks/{endpointId}', { params });
    expect(shown).toMatchObject({ enabled: true, events: ['topup.credited'], disabledReason: null });
    expect(JSON.stringify(shown)).not.toContain('whsec');

    const { data: changed } = await owner.api.PATCH('/api/webhooks/{endpointId}', {
      params,
      body: { description: 'books', events: ['balance.low'], enabled: false },
    });
    expect(changed).toMatchObject({ description: 'books', enabled: false, disabledReason: 'owner' });
    const off = await owner.api.POST('/api/webhooks/{endpointId}/pings', { params });
    expect(off.error?.error).toMatchObject({ code: 'conflict' });

    expect((await owner.api.DELETE('/api/webhooks/{endpointId}', { params })).response.status).toBe(204);
    expect((await owner.api.GET('/api/webhooks/{endpointId}', { params })).response.status).toBe(404);
    expect((await owner.api.GET('/api/webhooks')).data?.items).toEqual([]);
  });

  it('are nobody else’s', async () => {
    const [owner, stranger] = [await person(relay), await person(relay, { roles: ['admin', 'support'] })];
    const endpoint = await endpointOf(owner);
    const deliveryId = await ping(owner, endpoint.id);
    const base = `/api/webhooks/${endpoint.id}`;
    const statuses = await Promise.all([
      stranger.send(base),
      stranger.send(base, { method: 'DELETE' }),
      stranger.send(`${base}/secret`, { method: 'POST' }),
      stranger.send(`${base}/pings`, { method: 'POST' }),
      stranger.send(`${base}/deliveries`),
      stranger.send(`${base}/deliveries/${deliveryId}`),
      stranger.send(`${base}/deliveries/${deliveryId}/replays`, { method: 'POST' }),
      stranger.send(`${base}/replays`, json({ since: '2020-01-01T00:00:00Z' })),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual(statuses.map(() => 404));
  });

  it.each([
    ['no URL', 'nowhere'],
    ['another scheme', 'ftp://example.com/x'],
    ['a password', 'https://me:secret@example.com/x'],
    ['a fragment', 'https://example.com/x#here'],
  ])('refuse %s', async (_, url) => {
    const owner = await person(relay);
    const { error, response } = await owner.api.POST('/api/webhooks', { body: { url, events: ALL } });
    expect(response.status).toBe(400);
    expect(error?.error).toMatchObject({ code: 'invalid_value', param: 'url' });
  });

  it('are ten at most, even if they are created at once', async () => {
    const owner = await person(relay);
    const body = { url: `${receiver.url}/many`, events: ALL };
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => owner.api.POST('/api/webhooks', { body })),
    );
    expect(answers.filter(({ response }) => response.status === 201)).toHaveLength(10);
    expect(answers.filter(({ response }) => response.status === 409)).toHaveLength(4);
  });
});

describe('events', () => {
  it('report a top-up, a low balance, videos and refunds, signed, once each, though every message arrives twice', async () => {
    const customer = await relay.customer('1');
    const owner = await person(relay, { accountId: customer.accountId });
    const endpoint = await endpointOf(owner);
    await recordTopup(relay.fixture.billing, {
      accountId: customer.accountId,
      provider: 'manual',
      paymentId: newId(),
      credits: parseAmount('10'),
      paidMinor: 1_300n,
      rate: '1.3',
      currency: 'USD',
    });
    const alert = {
      alertId: newId(),
      accountId: customer.accountId,
      balance: '0.5',
      threshold: '1',
      crossedAt: new Date().toISOString(),
    };
    await relay.fixture.billing.query(outboxInsert('billing', [outboxRow(topics.balanceLow, alert)]));
    const video = (prompt: string) =>
      customer.send('/v1/videos', json({ model: 'vendora-imagine-video', prompt, seconds: '2' }));
    const good = (await (await video('a boat [[work:0.1]]')).json()) as { id: string };
    const bad = (await (await video('lost [[work:0.1]][[fault:fail-late]]')).json()) as { id: string };
    const images = json({ model: 'vendora-imagine-image', prompt: 'two of three [[fault:partial]]', n: 3 });
    expect((await customer.send('/v1/images/generations', images)).status).toBe(200);

    await until('all to be sent', async () => endpoint.received().length >= 6);
    const events = endpoint.received().map((each) => verified(endpoint.secret, each));
    const data = (type: EventName) => events.filter((each) => each.type === type).map((each) => each.data);
    expect(data('topup.credited')).toEqual([
      { topupId: expect.any(String), provider: 'manual', credits: '10', balance: '11' },
    ]);
    expect(data('balance.low')).toEqual([{ balance: '0.5', threshold: '1' }]);
    expect(data('video.completed')).toMatchObject([{ videoId: good.id, status: 'completed', error: null }]);
    expect(data('video.failed')).toMatchObject([{ videoId: bad.id, error: { code: expect.any(String) } }]);
    const refunds = data('charge.refunded').sort((a, b) =>
      String(a['kind']).localeCompare(String(b['kind'])),
    );
    expect(refunds).toMatchObject([
      { kind: 'partial', amount: '0.02', videoId: null },
      { kind: 'release', amount: '0.1', videoId: bad.id },
    ]);
    // IDs tell repeats apart. Chaos on the bus caused none.
    const ids = endpoint.received().map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(6);
    expect(await deliveriesOf(owner, endpoint.id)).toHaveLength(6);
  });

  it('only go to those who subscribed to them, and not from before', async () => {
    const customer = await relay.customer('1');
    const owner = await person(relay, { accountId: customer.accountId });
    const failing = json({ model: 'vendora-imagine-image', prompt: 'none [[fault:reject-400]]' });
    const other = await endpointOf(owner, ['topup.credited']);
    const endpoint = await endpointOf(owner, ['charge.refunded']);
    expect((await customer.send('/v1/images/generations', failing)).status).toBe(400);
    await until('the refund', async () => endpoint.received().length === 1);
    expect(other.received()).toEqual([]);
    await expectCleanLedger(relay);
  });
});

describe('deliveries', () => {
  it('are repeated until they are accepted, and every attempt is in the log', async () => {
    const owner = await person(relay);
    const endpoint = await endpointOf(owner);
    receiver.answer(endpoint.path, (response, _, count) =>
      count < 3 ? response.writeHead(500).end('not now\u0000') : response.writeHead(200).end('thanks'),
    );
    const deliveryId = await ping(owner, endpoint.id);
    const done = await ended(owner, endpoint.id, deliveryId);
    expect(done).toMatchObject({ state: 'delivered', attempts: 3, lastStatus: 200, nextAttemptAt: null });
    expect(done.log).toMatchObject([
      { status: 500, answer: 'not now\uFFFD', error: null },
      { status: 500 },
      { status: 200, answer: 'thanks' },
    ]);
    const ids = endpoint.received().map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([done.eventId]));
    expect(verified(endpoint.secret, endpoint.received()[2]!)).toMatchObject({ type: 'ping' });
  });

  it('fail on redirects, silence and a broken connection; no redirect is followed', async () => {
    const owner = await person(hasty);
    const [moved, silent, broken] = [
      await endpointOf(owner),
      await endpointOf(owner),
      await endpointOf(owner),
    ];
    receiver.answer(moved.path, (response) => response.writeHead(302, { location: '/elsewhere' }).end());
    receiver.answer(silent.path, () => undefined);
    receiver.answer(broken.path, (response) => response.destroy());
    const results = await Promise.all(
      [moved, silent, broken].map(async ({ id }) => ended(owner, id, await ping(owner, id))),
    );
    expect(results.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
    // A slow machine may give up one of the attempts.
    expect(results[0]!.log).toContainEqual(expect.objectContaining({ status: 302 }));
    expect(results[1]).toMatchObject({
      lastStatus: null,
      lastError: expect.stringContaining('no answer in time'),
    });
    expect(results[2]).toMatchObject({ lastStatus: null, lastError: expect.any(String) });
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  it('are accepted with any 2xx, however long the answer is', async () => {
    const owner = await person(relay);
    const endpoint = await endpointOf(owner);
    receiver.answer(endpoint.path, (response) => response.writeHead(200).end('x'.repeat(200_000)));
    expect(await ended(owner, endpoint.id, await ping(owner, endpoint.id))).toMatchObject({
      state: 'delivered',
    });
  });

  it('can be replayed, one or all that failed since a time, with the same ID', async () => {
    const owner = await person(hasty);
    const endpoint = await endpointOf(owner);
    receiver.answer(endpoint.path, (response) => response.writeHead(503).end());
    const deliveryIds = [await ping(owner, endpoint.id), await ping(owner, endpoint.id)];
    const failed = await Promise.all(deliveryIds.map((each) => ended(owner, endpoint.id, each)));
    expect(failed.map(({ state }) => state)).toEqual(['failed', 'failed']);
    receiver.answer(endpoint.path, (response) => response.writeHead(204).end());

    const path = { endpointId: endpoint.id, deliveryId: deliveryIds[0]! };
    const one = await owner.api.POST('/api/webhooks/{endpointId}/deliveries/{deliveryId}/replays', {
      params: { path },
    });
    expect(one.response.status).toBe(202);
    expect(await ended(owner, endpoint.id, deliveryIds[0]!)).toMatchObject({
      state: 'delivered',
      attempts: 1,
    });
    const since = failed[0]!.createdAt;
    const all = await owner.api.POST('/api/webhooks/{endpointId}/replays', {
      params: { path: { endpointId: endpoint.id } },
      body: { since, states: 'failed' },
    });
    expect(all.data).toEqual({ replayed: 1 });
    expect(await ended(owner, endpoint.id, deliveryIds[1]!)).toMatchObject({ state: 'delivered' });
    expect(endpoint.received().at(-1)!.headers['webhook-id']).toBe(failed[1]!.eventId);
  });

  it('stop if the endpoint is gone, or has failed for too long', async () => {
    const owner = await person(hasty);
    const [gone, failing] = [await endpointOf(owner), await endpointOf(owner)];
    receiver.answer(gone.path, (response) => response.writeHead(410).end());
    receiver.answer(failing.path, (response) => response.writeHead(500).end());
    const reasonOf = async ({ id }: Endpoint) =>
      (await owner.api.GET('/api/webhooks/{endpointId}', { params: { path: { endpointId: id } } })).data
        ?.disabledReason;
    await ping(owner, gone.id);
    await until('the first to be switched off', async () => (await reasonOf(gone)) === 'gone');
    expect(await ended(owner, failing.id, await ping(owner, failing.id))).toMatchObject({ state: 'failed' });
    expect(await reasonOf(failing)).toBeNull();
    await hasty.fixture.owner.query(
      `UPDATE webhook_endpoints SET failing_since = failing_since - interval '30 days' WHERE id = $1`,
      [failing.id],
    );
    await ping(owner, failing.id);
    await until('the second to be switched off', async () => (await reasonOf(failing)) === 'failing');
    expect(hasty.logged()).toContain('a webhook endpoint was switched off');
    const params = { path: { endpointId: failing.id } };
    const on = await owner.api.PATCH('/api/webhooks/{endpointId}', { params, body: { enabled: true } });
    expect(on.data).toMatchObject({ enabled: true, failingSince: null });
  });

  it('are signed with both secrets after the secret is changed', async () => {
    const owner = await person(relay);
    const endpoint = await endpointOf(owner);
    const params = { path: { endpointId: endpoint.id } };
    const { data } = await owner.api.POST('/api/webhooks/{endpointId}/secret', { params });
    expect(data?.secret).not.toBe(endpoint.secret);
    await ended(owner, endpoint.id, await ping(owner, endpoint.id));
    const [one] = endpoint.received();
    expect(verified(endpoint.secret, one!)).toEqual(verified(data!.secret, one!));
    expect(() => verified(`whsec_${Buffer.alloc(32).toString('base64')}`, one!)).toThrow();
    const again = await owner.api.POST('/api/webhooks/{endpointId}/secret', { params });
    expect(again.error?.error).toMatchObject({ code: 'conflict', param: 'receiverHas' });
    const query = { receiverHas: 'current' as const };
    const { data: third } = await owner.api.POST('/api/webhooks/{endpointId}/secret', {
      params: { ...params, query },
    });
    await ended(owner, endpoint.id, await ping(owner, endpoint.id));
    const two = endpoint.received()[1]!;
    expect(verified(data!.secret, two)).toEqual(verified(third!.secret, two));
    expect(() => verified(endpoint.secret, two)).toThrow();
  });

  it('that only test an endpoint are limited to a few per minute', async () => {
    const owner = await person(relay);
    const endpoint = await endpointOf(owner);
    const params = { path: { endpointId: endpoint.id } };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.api.POST('/api/webhooks/{endpointId}/pings', { params })),
    );
    expect(answers.map(({ response }) => response.status).sort()).toEqual([
      202, 202, 202, 202, 202, 429, 429, 429,
    ]);
  });

  it('are listed page by page', async () => {
    const owner = await person(relay);
    const endpoint = await endpointOf(owner);
    const made = [];
    for (let count = 0; count < 5; count += 1) made.unshift(await ping(owner, endpoint.id));
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const { data } = await owner.api.GET('/api/webhooks/{endpointId}/deliveries', {
        params: { path: { endpointId: endpoint.id }, query: { limit: 2, ...(cursor ? { cursor } : {}) } },
      });
      seen.push(...data!.items.map(({ id }) => id));
      cursor = data!.nextCursor;
    } while (cursor);
    expect(seen).toEqual(made);
  });
});
