import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Bus } from '#bus/bus.js';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { openPool } from '#database/database.js';
import type { Caller } from '#identity/key-authenticator.js';
import { chargeIdOf } from '#ledger/charges/charge-ids.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { formatAmount } from '#money/amount.js';
import { systemClock } from '#platform/clock.js';
import { ConfigReader } from '#platform/config.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { FolderStore } from '#storage/folder.store.js';
import { Upstreams } from '#upstream/adapters.js';
import { ChannelHealth } from '#upstream/health/channel-health.js';
import { json, startStub, type StubHandler, type StubUpstream } from '#upstream/upstream.fixture.js';
import type { EngineFixture } from '../../../test/support/ledger-person.js';
import { BillingUnderTest } from '../charging/billing.fixture.js';
import { ChargedCalls } from '../charging/charged-call.js';
import { ChargeService } from '../charging/charge.service.js';
import { ResolutionPost } from '../charging/resolution.post.js';
import { readGatewayConfig } from '../gateway.config.js';
import { GatewayMetrics } from '../gateway.metrics.js';
import { ImageFiles } from './image.files.js';
import { type ImageCall, ImageService } from './image.service.js';

const SECRET = 's'.repeat(32);
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const made = (count: number): StubHandler => {
  return (_request, response) =>
    json(response, 200, { created: 1, data: Array.from({ length: count }, () => ({ b64_json: PNG })) });
};
const busy: StubHandler = (_request, response) => json(response, 429, {});

let billing: BillingUnderTest;
let under: EngineFixture;
let pool: pg.Pool;
let bus: Bus;
let folder: string;
let upstream: StubUpstream;
let images: ImageService;
let caller: Caller;
/** What the upstream answers, call by call. */
let answers: StubHandler[];
let freed: string[];

beforeAll(async () => {
  billing = await BillingUnderTest.start();
  ({ under } = billing);
  pool = openPool({ url: under.ledger.urlFor('gateway'), max: 2, applicationName: 'spec' });
  folder = await mkdtemp(join(tmpdir(), 'image-service-'));
  upstream = await startStub((request, response) => answers.shift()!(request, response));
  await under.ledger.owner.query('UPDATE channels SET base_url = $1, allow_private_address = true', [
    upstream.url,
  ]);
});
afterAll(async () => {
  await upstream.close();
  await pool.end();
  await billing.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  billing.reset();
  freed = [];
  upstream.requests.length = 0;
  bus = billing.bus(300);
  images = serviceOn(bus);
  const { accountId, keyId } = await under.ledger.account({ credits: '1' });
  caller = { accountId, keyId, group: 'Vendora-Main' };
});
afterEach(async () => {
  await bus.close();
});

function serviceOn(on: Bus): ImageService {
  const { log } = under.ledger;
  const clock = systemClock;
  const config = readGatewayConfig(new ConfigReader({ URL_SIGNING_SECRET: SECRET, STORAGE_DIR: folder }));
  const { holdExpiresMs } = config;
  const metrics = new GatewayMetrics(new Registry());
  const upstreams = new Upstreams();
  const catalog = new CatalogCache(() => loadCatalog(under.ledger.billing), clock, 3_600_000);
  const post = new ResolutionPost(on, pool, { log, metrics, wakeOutbox: () => undefined });
  const service = new ChargeService(on, catalog, {
    clock,
    log,
    metrics,
    holdExpiresMs,
    onHeld: () => undefined,
  });
  const health = new ChannelHealth({
    clock,
    openMs: 1_000,
    failuresToOpen: 100,
    probe: (channel) => upstreams.probe(channel, 1_000),
  });
  const calls = new ChargedCalls({
    service,
    post,
    health,
    limiter: { takeWork: async () => ({}) },
    onNothingTaken: (id) => freed.push(id),
  });
  const files = new ImageFiles(new FolderStore(folder), { secret: SECRET, lifeMs: 60_000, clock });
  return new ImageService({
    catalog,
    calls,
    post,
    upstreams,
    health,
    files,
    config,
    clock,
    metrics,
    log,
  });
}

/** Generates with the one model that the call names. */
function generate(wanted: ImageCall) {
  const { requestId, asked } = wanted;
  return images.generate(wanted, images.turnsOf(requestId, { models: [asked.model], named: 1 }));
}

function call(model: string, count = 1): ImageCall {
  const none = { size: undefined, aspectRatio: undefined, resolution: undefined, quality: undefined };
  const asked = { ...none, model, prompt: 'a lighthouse', count, format: 'b64_json' } as const;
  return { caller, asked, requestId: newId(), origin: null };
}

async function balances(): Promise<string[]> {
  const balance = (await readBalance(under.ledger.billing, caller.accountId))!;
  return [balance.main, balance.held].map(formatAmount);
}

async function charges(): Promise<string[]> {
  const { rows } = await under.ledger.owner.query<{ line: string }>(
    `SELECT concat_ws(' ', id, model_id, state) AS line FROM charges WHERE account_id = $1 ORDER BY created_at, id`,
    [caller.accountId],
  );
  return rows.map(({ line }) => line);
}

describe('an image call', () => {
  it('is settled for what was delivered before it is answered, as its request’s charge', async () => {
    answers = [made(2)];
    const asked = call('imgmodel-4', 3);
    const { data, usage } = await generate(asked);
    expect(data).toEqual([1, 2].map(() => ({ b64_json: PNG, mime_type: 'image/png' })));
    expect(usage).toEqual({ cost_in_usd_ticks: 600_000_000 });
    expect(await charges()).toEqual([`${asked.requestId} imgmodel-4 settled`]);
    expect(await balances()).toEqual(['0.94', '0']);
    expect(JSON.parse(upstream.requests[0]!.body)).toMatchObject({ prompt: 'a lighthouse', n: 3 });
  });

  it('priced by tokens pays for the readable images, by the reported usage or without a report', async () => {
    const { owner } = under.ledger;
    await owner.query(
      `INSERT INTO models (id, family, unit, owned_by, limits) VALUES ('drawn', 'image', 'token', 'vendora', '{"maxImages": 4}')`,
    );
    await owner.query(`INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'drawn')`);
    await owner.query(
      `INSERT INTO channel_models SELECT channel_id, 'drawn', 'drawn' FROM channel_models WHERE model_id = 'imgmodel-4'`,
    );
    await owner.query(
      `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices)
       VALUES ('drawn', 5, 5, 5, '{"image_output": "10"}')`,
    );
    images = serviceOn(bus);
    const oneOfFour = (usage: object): StubHandler => {
      const data = [PNG, 'eA==', 'eA==', 'eA=='].map((image) => ({ b64_json: image }));
      return (_request, response) => json(response, 200, { created: 1, data, ...usage });
    };
    const served = async (usage: object) => {
      answers = [oneOfFour(usage)];
      const answer = await generate(call('drawn', 4));
      return [answer.data.length, answer.usage.input_tokens, answer.usage.output_tokens];
    };
    expect(await served({ usage: { input_tokens: 100, output_tokens: 4_003 } })).toEqual([1, 100, 1_000]);
    // 100 and 1,000 tokens at 5 and 10 per million.
    expect(await balances()).toEqual(['0.9895', '0']);
    expect(await served({})).toEqual([1, 6, 1_056]);
    const image = { b64_json: PNG };
    const usage = { input_tokens: 100, output_tokens: 4_003 };
    for (const data of [[image, {}, ...Array(3).fill({ respect_moderation: false })], Array(4).fill(image)]) {
      answers = [(_request, response) => json(response, 200, { created: 1, data, usage })];
      const answer = await generate(call('drawn'));
      expect([answer.data.length, answer.usage.output_tokens]).toEqual([1, 1_000]);
    }
  });

  it('is released once before it fails, if it is unclear what the upstream did', async () => {
    answers = [(request) => void request.socket.destroy()];
    await expect(generate(call('imgmodel-4'))).rejects.toMatchObject({
      code: 'generation_failed',
      shouldRetry: false,
    });
    expect(await balances()).toEqual(['1', '0']);
    expect(freed).toEqual([]);
  });

  it('goes to another model under a separate charge, once the first accepted nothing and was released', async () => {
    answers = [busy, made(1)];
    const first = call('vendora-imagine-image');
    const turns = images.turnsOf(first.requestId, {
      models: ['vendora-imagine-image', 'imgmodel-4'],
      named: 2,
    });
    await turns.serve((model) => images.generate({ ...first, asked: { ...first.asked, model } }, turns));
    expect(await charges()).toEqual([
      `${first.requestId} vendora-imagine-image released`,
      `${chargeIdOf(first.requestId, 1)} imgmodel-4 settled`,
    ]);
    expect(await balances()).toEqual(['0.97', '0']);
    expect(freed).toEqual([first.requestId]);
  });

  it('goes to no other model while billing has not confirmed the release, which waits in the outbox', async () => {
    answers = [
      (request, response) => {
        billing.beforeEnd = () => Promise.reject(new Error('billing does not answer'));
        busy(request, response);
      },
    ];
    const first = call('vendora-imagine-image');
    const turns = images.turnsOf(first.requestId, {
      models: ['vendora-imagine-image', 'imgmodel-4'],
      named: 2,
    });
    const served = turns.serve((model) =>
      images.generate({ ...first, asked: { ...first.asked, model } }, turns),
    );
    await expect(served).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(upstream.requests).toHaveLength(1);
    expect(await charges()).toEqual([`${first.requestId} vendora-imagine-image held`]);
    expect(freed).toEqual([]);
    const { rows } = await under.ledger.owner.query(
      `SELECT FROM outbox WHERE payload->>'chargeId' = $1 AND payload->>'outcome' = 'failed'`,
      [first.requestId],
    );
    expect(rows).toHaveLength(1);
  });

  it('tries no other upstream if one may have accepted the work', async () => {
    const { owner } = under.ledger;
    await owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address, honours_idempotency)
       VALUES ('second', 'openai', $1, 'key', true, false)`,
      [upstream.url],
    );
    await owner.query(`INSERT INTO channel_groups VALUES ('second', 'Vendora-Main')`);
    await owner.query(`INSERT INTO channel_models VALUES ('second', 'imgmodel-4', 'imgmodel-4')`);
    const served = async (first: StubHandler) => {
      answers = [first, made(1)];
      upstream.requests.length = 0;
      const answer = await generate(call('imgmodel-4')).catch(() => null);
      return [upstream.requests.length, answer?.data.length ?? null];
    };
    expect(await served(busy)).toEqual([2, 1]);
    expect(await served((request) => void request.socket.destroy())).toEqual([1, null]);
    await owner.query(`UPDATE channels SET enabled = false WHERE id = 'second'`);
  });

  it('leaves no hold behind if it is unclear whether there is one', async () => {
    billing.beforeHold = () => Promise.reject(new Error('billing does not answer'));
    const asked = call('imgmodel-4');
    await expect(generate(asked)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(upstream.requests).toEqual([]);
    const { rows } = await under.ledger.owner.query(
      `SELECT FROM outbox WHERE payload->>'chargeId' = $1 AND payload->>'outcome' = 'failed'`,
      [asked.requestId],
    );
    expect(rows).toHaveLength(1);
  });

  it('calls no upstream for what the balance does not cover', async () => {
    const poor = await under.ledger.account({ credits: '0.05' });
    const wanted = { ...call('imgmodel-4', 2), caller: { ...caller, ...poor } };
    await expect(generate(wanted)).rejects.toMatchObject({ code: 'insufficient_user_quota' });
    expect(upstream.requests).toEqual([]);
  });
});
