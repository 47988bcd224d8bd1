import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const MODEL = 'vendora-imagine-video';
const UNTOUCHED = { main: '1', held: '0' };

interface Refusal {
  error: { code: string; param: string | null; message: string };
}

async function upstreamIdOf({ fixture }: Relay, id: string): Promise<string | undefined> {
  const { rows } = await fixture.owner.query<{ upstream_id: string }>(
    'SELECT upstream_id FROM tasks WHERE id = $1',
    [id],
  );
  return rows[0]?.upstream_id;
}

describe('a remix of a video', () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => closeClean(relay));

  const finished = async (customer: Customer, fields: object = {}): Promise<string> => {
    const body = json({ model: MODEL, prompt: 'a harbour [[work:0]]', seconds: '4', ...fields });
    const { id } = (await (await customer.send('/v1/videos', body)).json()) as { id: string };
    await until('the end of the video', async () => {
      const video = await customer.sdk().videos.retrieve(id);
      return video.status === 'completed';
    });
    return until('its settlement', async () => (await customer.balance()).held === '0' && id);
  };

  const remixesAtVendor = async () => {
    const answer = await fetch(`${relay.sandboxUrl}/_sandbox/tasks`);
    const { tasks } = (await answer.json()) as { tasks: Record<string, unknown>[] };
    return tasks.filter(({ remixOf }) => remixOf !== null);
  };

  const refused = async (
    customer: Customer,
    id: string,
    [status, code, param]: [number, string, string?],
    body: object = { prompt: 'at dawn' },
  ) => {
    const before = await customer.balance();
    const answer = await customer.send(`/v1/videos/${id}/remix`, json(body));
    const { error } = (await answer.json()) as Refusal;
    expect({ status: answer.status, ...error }).toMatchObject({ status, code, param: param ?? null });
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(await customer.balance()).toEqual(before);
  };

  it('is made with the SDK from the vendor’s own video, at the price of a similar video', async () => {
    const customer = await relay.customer('1');
    const { videos } = customer.sdk();
    const source = await finished(customer, { size: '1280x720' });
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
    const remix = await videos.remix(source, { prompt: 'the same at dawn' });
    expect(remix).toMatchObject({
      model: MODEL,
      seconds: '4',
      size: '1280x720',
      status: 'queued',
      prompt: 'the same at dawn',
      remixed_from_video_id: source,
    });
    expect(await customer.balance()).toEqual({ main: '0.6', held: '0.2' });
    await until('the end of the remix', async () => (await videos.retrieve(remix.id)).status === 'completed');
    await until('its settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.6', held: '0' });
    const file = await videos.downloadContent(remix.id);
    expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
    const asked = await remixesAtVendor();
    expect(asked).toMatchObject([
      { remixOf: await upstreamIdOf(relay, source), prompt: 'the same at dawn', seconds: 4 },
    ]);
    // A remix is a video like any other.
    const again = await videos.remix(remix.id, { prompt: 'and again [[work:0]]' });
    expect(again.remixed_from_video_id).toBe(remix.id);
    await until('the end of it all', async () => (await videos.retrieve(again.id)).status === 'completed');
  });

  it('is one job and one charge, however often it is requested under one key', async () => {
    const customer = await relay.customer('1');
    const source = await finished(customer);
    const before = (await remixesAtVendor()).length;
    const key = { 'idempotency-key': 'remix-once' };
    const ask = () => customer.send(`/v1/videos/${source}/remix`, json({ prompt: 'once' }, key));
    const ids: unknown[] = [];
    for (let time = 0; time < 3; time += 1) ids.push(((await (await ask()).json()) as { id: string }).id);
    // A gateway that died leaves such a row. Meanwhile, the source was deleted.
    await relay.fixture.owner.query(
      `UPDATE idempotency_keys SET state = 'running', status = NULL, answer = NULL, lease_until = now()
       WHERE key_id = $1`,
      [customer.keyId],
    );
    await customer.sdk().videos.delete(source);
    ids.push(((await (await ask()).json()) as { id: string }).id);
    expect(new Set(ids).size).toBe(1);
    expect(await remixesAtVendor()).toHaveLength(before + 1);
    expect(await customer.balance()).toMatchObject({ main: '0.6' });
  });

  it('is refunded if it fails at the vendor', async () => {
    const customer = await relay.customer('1');
    const source = await finished(customer);
    const { videos } = customer.sdk();
    const { id } = await videos.remix(source, { prompt: 'late [[fault:fail-late]] [[work:0]]' });
    await until('its failure', async () => (await videos.retrieve(id)).status === 'failed');
    await until('the refund', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
    await refused(customer, id, [400, 'video_failed']);
  });

  it("is only possible for the account's own finished videos", async () => {
    const customer = await relay.customer('1');
    const stranger = await relay.customer('1');
    const source = await finished(customer);
    await refused(stranger, source, [404, 'video_not_found']);
    await refused(stranger, '01jcq3v8w1f5p6k7m8n9q0r1s2', [404, 'video_not_found']);
    expect(await stranger.balance()).toEqual(UNTOUCHED);
    await refused(customer, source, [400, 'missing_required_parameter', 'prompt'], {});
    await refused(customer, source, [400, 'unknown_parameter', 'seconds'], { prompt: 'x', seconds: '12' });
    await customer.sdk().videos.delete(source);
    await refused(customer, source, [404, 'video_deleted']);
    const slow = await customer
      .sdk()
      .videos.create({ model: MODEL, prompt: 'slow [[work:600]]', seconds: '4' });
    await refused(customer, slow.id, [400, 'video_not_ready']);
  });

  it('is refused permanently, for free, once the original is gone', async () => {
    const customer = await relay.customer('1');
    const source = await finished(customer);
    await fetch(`${relay.sandboxUrl}/_sandbox/reset`, { method: 'POST' });
    await refused(customer, source, [400, 'video_not_remixable']);
    const { rows } = await relay.fixture.owner.query<{ state: string }>(
      `SELECT state FROM charges WHERE account_id = $1 ORDER BY created_at DESC LIMIT 1`,
      [customer.accountId],
    );
    expect(rows).toEqual([{ state: 'released' }]);
  });
});

interface Asked {
  channel: string;
  key: string;
  path: string;
}

/** A proxy to the sandbox that records every create, and its key. */
async function startVendor(channel: string, sandboxUrl: string, asked: Asked[]): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '', headers } = request;
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const key = (headers.authorization ?? '').replace('Bearer ', '');
      if (method === 'POST') asked.push({ channel, key, path: url });
      const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
      const authorization = 'Bearer sandbox-key';
      const answer = await fetch(sandboxUrl + url, {
        method,
        body,
        headers: { authorization, 'content-type': 'application/json' },
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** If channels were chosen at random, all of these would be right once in 4 to the power of this number. */
const PAIRS = 8;

describe('two channels with two keys each', () => {
  const asked: Asked[] = [];
  const servers: Server[] = [];
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay({ CATALOG_LIFE_SECONDS: '0.001' });
    const { owner } = relay.fixture;
    for (const id of ['east', 'west']) {
      const server = await startVendor(id, relay.sandboxUrl, asked);
      servers.push(server);
      await owner.query(
        `INSERT INTO channels (id, protocol, base_url, api_key, further_api_keys, priority, allow_private_address)
         VALUES ($1, 'openai', $2, $3, $4, 9, true)`,
        [id, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, `${id}-1`, [`${id}-2`]],
      );
      await owner.query(`INSERT INTO channel_models VALUES ($1, $2, $2)`, [id, MODEL]);
      await owner.query(`INSERT INTO channel_groups VALUES ($1, 'Vendora-Main')`, [id]);
    }
    customer = await relay.customer('20');
  });
  afterAll(async () => {
    await closeClean(relay);
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('make each remix on the channel of its video, and nowhere else', async () => {
    const { videos } = customer.sdk();
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const { id } = await videos.create({ model: MODEL, prompt: `number ${pair} [[work:0]]`, seconds: '4' });
      await until('its end', async () => (await videos.retrieve(id)).status === 'completed');
      await videos.remix(id, { prompt: 'another [[work:0]]' });
      const [made, remade] = asked.slice(-2);
      const upstreamId = await upstreamIdOf(relay, id);
      expect(remade).toEqual({ ...made, path: `/v1/videos/${upstreamId}/remix` });
    }
  });

  it.each([
    [
      'the model makes none as long any more',
      `UPDATE models SET limits = limits || '{"maxSeconds": 2}' WHERE id = '${MODEL}'`,
      `UPDATE models SET limits = limits - 'maxSeconds' WHERE id = '${MODEL}'`,
    ],
    [
      'the channels make it by another model of the vendor',
      `UPDATE channel_models SET upstream_model = 'cheaper' WHERE channel_id IN ('east', 'west')`,
      `UPDATE channel_models SET upstream_model = model_id WHERE channel_id IN ('east', 'west')`,
    ],
    [
      'the channels are switched off',
      `UPDATE channels SET enabled = false WHERE id IN ('east', 'west')`,
      `UPDATE channels SET enabled = true WHERE id IN ('east', 'west')`,
    ],
  ])('refuse it permanently once %s', async (_, change, undo) => {
    const { owner } = relay.fixture;
    const body = { model: MODEL, prompt: 'the last [[work:0]]', seconds: '4' } as const;
    const { id } = await customer.sdk().videos.create(body);
    await until('its end', async () => (await customer.sdk().videos.retrieve(id)).status === 'completed');
    await until('every settlement', async () => (await customer.balance()).held === '0');
    const [before, balance] = [asked.length, await customer.balance()];
    await owner.query(change);
    const answer = await customer.send(`/v1/videos/${id}/remix`, json({ prompt: 'x' }));
    await owner.query(undo);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'video_not_remixable' } },
    ]);
    expect(asked).toHaveLength(before);
    expect(await customer.balance()).toEqual(balance);
  });
});
