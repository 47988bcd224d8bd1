import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { readBillingConfig } from '#apps/billing/billing.config.js';
import { type RunningBilling, startBilling } from '#apps/billing/billing.program.js';
import { readGatewayConfig } from '#apps/gateway/gateway.config.js';
import { type RunningGateway, startGateway } from '#apps/gateway/gateway.program.js';
import { type Sandbox, startSandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { formatAmount } from '#money/amount.js';
import { ConfigReader } from '#platform/config.js';
import { createRegistry } from '#platform/metrics.js';
import { FolderStore } from '#storage/folder.store.js';
import { openPatientPool } from '../support/database.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { json, until } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse', response_format: 'b64_json' };
const CHATS = '/v1/chat/completions';
const chat = (content: string) =>
  json({ model: 'vendora-chat', stream: true, messages: [{ role: 'user', content }] });
const VIDEO = { model: 'vendora-imagine-video', prompt: 'a paper boat' };

/** For tests in which the gateway waits in vain. */
const IMPATIENT = { BUS_REQUEST_TIMEOUT_SECONDS: '1', HOLD_EXPIRES_SECONDS: '2' };

/** A gateway whose billing, database and upstream can be stopped one by one. */
describe('the gateway while something is unavailable', () => {
  const env = {
    URL_SIGNING_SECRET: 'a secret of the tests, long enough to sign',
    SECRETS_KEY: 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=',
    BUS_REQUEST_TIMEOUT_SECONDS: '30',
    HOLD_EXPIRES_SECONDS: '60',
    CHARGE_GRACE_SECONDS: '0.2',
    IMAGE_REQUEST_LIMIT_SECONDS: '60',
    SWEEP_INTERVAL_SECONDS: '0.1',
    OUTBOX_POLL_SECONDS: '0.05',
    KEY_CACHE_SECONDS: '60',
    CATALOG_LIFE_SECONDS: '60',
    SHUTDOWN_GRACE_SECONDS: '3',
  };
  let fixture: LedgerFixture;
  let sandbox: Sandbox;
  let upstream: GatedUpstream;
  let transport: InProcessTransport;
  let pools: pg.Pool[];
  let billing: RunningBilling | undefined;
  let gateway: RunningGateway;
  let storageDir: string;
  let customer: { accountId: string; apiKey: string };

  beforeEach(async () => {
    fixture = await createLedgerFixture();
    sandbox = await startSandbox({ imageSeconds: 0 });
    await configureSandboxChannel(fixture.owner, { baseUrl: sandbox.url, apiKey: 'sandbox-key' });
    upstream = await GatedUpstream.before(sandbox.url, fixture);
    storageDir = await mkdtemp(join(tmpdir(), 'tollgate-outages-'));
    const { log } = fixture;
    transport = new InProcessTransport({
      groups: ['billing', 'gateway'],
      log,
      registry: createRegistry('test'),
    });
    pools = [];
    billing = await startBillingAgain();
    gateway = await startGatewayWith();
    customer = await fixture.account({ credits: '1' });
    expect((await send('/v1/models')).status).toBe(200);
  });

  afterEach(async () => {
    await gateway.close();
    await billing?.close();
    await transport.close();
    await upstream.close();
    await sandbox.close();
    await Promise.all(pools.map((pool) => pool.end()));
    await fixture.close();
    await rm(storageDir, { recursive: true, force: true });
  });

  it('answers 503 if billing does not answer, and the late hold is refused', async () => {
    await restartWith(IMPATIENT);
    await stopBilling();
    const response = await send(IMAGES, json(IMAGE));
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error: { code: 'service_unavailable' } });

    billing = await startBillingAgain();
    await until('the tombstone', async () => (await charges()).length === 1);
    expect(await charges()).toEqual([{ state: 'refused', settled: null }]);
    expect(await balance()).toEqual({ main: '1', held: '0' });
  });

  it('ends the task of a video whose hold was not answered', async () => {
    await restartWith(IMPATIENT);
    await stopBilling();
    expect((await send('/v1/videos', json(VIDEO))).status).toBe(503);
    const { rows } = await fixture.owner.query<{ state: string }>('SELECT state FROM tasks');
    expect(rows).toEqual([{ state: 'failed' }]);

    billing = await startBillingAgain();
    await until('the end of the charge', async () => (await charges()).length === 1);
    expect(await charges()).toEqual([{ state: 'refused', settled: null }]);
    expect(await balance()).toEqual({ main: '1', held: '0' });
  });

  it('settles through the outbox what was delivered while billing was down', async () => {
    upstream.shut(/meanwhile/);
    const call = send(IMAGES, json({ ...IMAGE, prompt: 'meanwhile' }));
    await until('the work', async () => upstream.waiting === 1);
    await stopBilling();
    upstream.open();
    expect((await call).status).toBe(200);
    expect(await balance()).toEqual({ main: '0.98', held: '0.02' });

    billing = await startBillingAgain();
    await until('the settlement', async () => (await balance()).held === '0');
    expect(await charges()).toEqual([{ state: 'settled', settled: 20_000_000n }]);
  });

  it('settles through the outbox a stream that ended while billing was down', async () => {
    upstream.shut(/tokens/, 'answer');
    const response = await send(CHATS, chat('[[tokens:20]]'));
    expect(response.status).toBe(200);
    await stopBilling();
    upstream.open();
    expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/);
    expect((await balance()).held).not.toBe('0');

    billing = await startBillingAgain();
    await until('the settlement', async () => (await balance()).held === '0');
    // 4 input tokens at 2.5 USD per million, and 20 output tokens at 10.
    expect(await charges()).toEqual([{ state: 'settled', settled: 210_000n }]);
  });

  it('releases through the outbox what failed while billing was down', async () => {
    upstream.shut(/meanwhile/);
    const call = send(IMAGES, json({ ...IMAGE, prompt: 'meanwhile [[fault:truncated]]' }));
    await until('the work', async () => upstream.waiting === 1);
    await stopBilling();
    upstream.open();
    const response = await call;
    expect(response.status).toBe(502);
    expect(response.headers.get('x-should-retry')).toBe('false');

    billing = await startBillingAgain();
    await until('the release', async () => (await balance()).held === '0');
    expect(await balance()).toEqual({ main: '1', held: '0' });
  });

  it('answers 503 without its database, and charges nothing for requests in the meantime', async () => {
    await restartWith(IMPATIENT);
    await refuseConnections(true);
    const poll = await send('/v1/videos/01jcq3v8w1f5p6k7m8n9q0r1s2');
    expect(poll.status).toBe(503);
    expect(await poll.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    expect((await send('/v1/videos', json(VIDEO))).status).toBe(503);
    expect((await send(IMAGES, json(IMAGE))).status).toBe(503);

    await refuseConnections(false);
    await until('the recovery', async () => (await send(IMAGES, json(IMAGE))).status === 200);
    // A hold was requested only if the gateway still had requests left in this minute.
    await until('the end of all holds', async () => (await charges()).every(({ state }) => state !== 'held'));
    const states = (await charges()).map(({ state }) => state);
    // On a busy machine, the gateway may have given up a hold that came in time.
    const isGone = (state: string) => state === 'refused' || state === 'released';
    expect(states.filter((state) => !isGone(state))).toEqual(['settled']);
    expect(await balance()).toEqual({ main: '0.98', held: '0' });
  });

  it('tries another channel only if the first provably did not accept the work', async () => {
    const other = await startSandbox({ imageSeconds: 0 });
    try {
      await addChannel('first', 'http://127.0.0.1:9');
      await until('the catalog to be read again', async () => {
        await fixture.owner.query(
          `INSERT INTO outbox (producer, topic, key, payload)
           VALUES ('billing', 'catalog.changed', 'channels', '{"revision":"1","what":"channels"}')`,
        );
        const response = await send(IMAGES, json(IMAGE));
        expect(response.status).toBe(200);
        const { rows } = await fixture.owner.query<{ channel_id: string }>(`SELECT channel_id FROM charges`);
        expect(rows.every(({ channel_id }) => channel_id === 'sandbox')).toBe(true);
        return rows.length > 2;
      });
      const video = await send('/v1/videos', json(VIDEO));
      expect(video.status).toBe(200);
      const { rows } = await fixture.owner.query('SELECT state, channel_id FROM tasks');
      expect(rows).toEqual([{ state: 'submitted', channel_id: 'sandbox' }]);
    } finally {
      await other.close();
    }
  });

  it('finishes requests in progress before it closes', async () => {
    await restartWith({ SHUTDOWN_GRACE_SECONDS: '60' });
    upstream.shut(/still/);
    const call = send(IMAGES, json({ ...IMAGE, prompt: 'still' }));
    await until('the work', async () => upstream.waiting === 1);
    const closed = gateway.close();
    upstream.open();
    expect((await call).status).toBe(200);
    await closed;
    await expect(send('/v1/models')).rejects.toThrow();
    expect(await balance()).toEqual({ main: '0.98', held: '0' });
  });

  it('bills the sent part of a stream that outlasts the shutdown limit', async () => {
    const response = await send(CHATS, chat('[[tokens:40]] [[fault:never-finish]]'));
    const reader = response.body!.getReader();
    await reader.read();
    const closed = gateway.close();
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
    await closed;
    expect((await charges()).map(({ state }) => state)).toEqual(['settled']);
    expect((await balance()).held).toBe('0');
  });

  function poolOf(role: 'gateway' | 'billing'): pg.Pool {
    const pool = openPatientPool({ url: fixture.urlFor(role), max: 4, applicationName: role });
    pools.push(pool);
    return pool;
  }

  function startGatewayWith(more: Record<string, string> = {}): Promise<RunningGateway> {
    return startGateway({
      pool: poolOf('gateway'),
      transport,
      storage: new FolderStore(storageDir),
      config: readGatewayConfig(new ConfigReader({ ...env, ...more })),
      log: fixture.log,
      registry: createRegistry('test'),
      listen: { host: '127.0.0.1', port: 0 },
    });
  }

  async function restartWith(more: Record<string, string>): Promise<void> {
    await gateway.close();
    gateway = await startGatewayWith(more);
    expect((await send('/v1/models')).status).toBe(200);
  }

  function startBillingAgain(): Promise<RunningBilling> {
    return startBilling({
      pool: poolOf('billing'),
      transport,
      config: readBillingConfig(new ConfigReader(env)),
      log: fixture.log,
      registry: createRegistry('test'),
    });
  }

  async function stopBilling(): Promise<void> {
    await billing?.close();
    billing = undefined;
  }

  /** The owner, a superuser, can still connect. */
  async function refuseConnections(refuse: boolean): Promise<void> {
    const { rows } = await fixture.owner.query<{ name: string }>('SELECT current_database() AS name');
    await fixture.owner.query(`ALTER DATABASE ${rows[0]?.name} CONNECTION LIMIT ${refuse ? 0 : -1}`);
    if (!refuse) return;
    await fixture.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename <> current_user`,
    );
  }

  async function addChannel(id: string, baseUrl: string): Promise<void> {
    await fixture.owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, priority, allow_private_address)
       VALUES ($1, 'openai-xai', $2, 'key', 9, true)`,
      [id, baseUrl],
    );
    await fixture.owner.query(
      `INSERT INTO channel_models SELECT $1, model_id, upstream_model FROM channel_models WHERE channel_id = 'sandbox'`,
      [id],
    );
    await fixture.owner.query(`INSERT INTO channel_groups SELECT $1, name FROM groups`, [id]);
  }

  function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      ...(init.headers as Record<string, string>),
      authorization: `Bearer ${customer.apiKey}`,
    };
    return fetch(`http://127.0.0.1:${gateway.port}${path}`, { ...init, headers });
  }

  async function balance(): Promise<{ main: string; held: string }> {
    const found = await readBalance(fixture.owner, customer.accountId);
    return { main: formatAmount(found?.main ?? 0n), held: formatAmount(found?.held ?? 0n) };
  }

  async function charges(): Promise<{ state: string; settled: bigint | null }[]> {
    return (
      await fixture.owner.query<{ state: string; settled: bigint | null }>(
        'SELECT state, settled FROM charges',
      )
    ).rows;
  }
});
