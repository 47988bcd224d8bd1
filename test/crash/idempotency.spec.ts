import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { asLogin, openPatientPool } from '../support/database.js';
import { PATIENCE } from '../support/durations.js';
import { until } from '../support/eventually.js';
import {
  ensureBuilt,
  type Environment,
  killLaunched,
  type StandaloneProcess,
  startStandalone,
} from '../support/programs.js';

const IMAGE = {
  path: '/v1/images/generations',
  body: { model: 'vendora-imagine-image', prompt: 'a lighthouse' },
};
const VIDEO = {
  path: '/v1/videos',
  body: { model: 'vendora-imagine-video', prompt: 'a boat', seconds: '4' },
};

/** Short, so that a recovery takes seconds. */
const DURATIONS: Environment = {
  SANDBOX_IMAGE_SECONDS: '0',
  SANDBOX_VIDEO_SECONDS: '0.2',
  // What comes to the point must not be given up before it, however slow the machine is.
  BUS_REQUEST_TIMEOUT_SECONDS: PATIENCE['BUS_REQUEST_TIMEOUT_SECONDS']!,
  HOLD_EXPIRES_SECONDS: PATIENCE['HOLD_EXPIRES_SECONDS']!,
  IMAGE_REQUEST_LIMIT_SECONDS: PATIENCE['IMAGE_REQUEST_LIMIT_SECONDS']!,
  VIDEO_CREATE_LIMIT_SECONDS: PATIENCE['VIDEO_CREATE_LIMIT_SECONDS']!,
  IDEMPOTENCY_LEASE_SECONDS: PATIENCE['HOLD_EXPIRES_SECONDS']!,
  STUCK_AFTER_SECONDS: PATIENCE['VIDEO_CREATE_LIMIT_SECONDS']!,
  UNCLEAR_CREATE_SECONDS: '86400',
  CHARGE_GRACE_SECONDS: '0.5',
  SWEEP_INTERVAL_SECONDS: '0.2',
};

describe('an Idempotency-Key whose gateway is killed', () => {
  let dataDir: string;
  let relay: StandaloneProcess;
  let billing: pg.Pool;

  beforeAll(() => ensureBuilt());
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-idempotency-'));
  });
  afterEach(async () => {
    await billing.end();
    await relay.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });
  afterAll(() => killLaunched());

  async function start(more: Environment = {}): Promise<void> {
    relay = await startStandalone({ ...DURATIONS, DATA_DIR: dataDir, ...more });
  }

  /** Nothing is killed from here on, so the limits may be ones that a slow machine does not reach. */
  async function startAgain(): Promise<void> {
    const diedAt = new Date().toISOString();
    await start(PATIENCE);
    const database = readEmbeddedConnection(join(dataDir, 'database'))!;
    billing = openPatientPool({ url: database.urlFor('billing'), max: 2, applicationName: 'test-billing' });
    // As if the times of the killed gateway had passed: of an image, of its lease, and of what it left to the worker.
    await asLogin(database.ownerUrl, (owner) =>
      owner.query(`
        UPDATE charges SET deadline = now() WHERE deadline IS NOT NULL;
        UPDATE idempotency_keys SET lease_until = '${diedAt}' WHERE lease_until IS NOT NULL;
        UPDATE tasks SET created_at = created_at - interval '1 hour', submitting_at = submitting_at - interval '1 hour'
        WHERE state IN ('created', 'submitting')`),
    );
  }

  const send = ({ path, body }: { path: string; body: object }): Promise<Response> =>
    fetch(relay.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${relay.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify(body),
    });

  /** What the upstream was asked to make since the new process started. */
  async function asked(): Promise<number> {
    const { rows } = await billing.query<{ base_url: string }>(
      `SELECT base_url FROM channels WHERE id = 'sandbox'`,
    );
    const stats = (await (await fetch(`${rows[0]!.base_url}/_sandbox/stats`)).json()) as Record<
      string,
      number
    >;
    return (stats['imagesRequests'] ?? 0) + (stats['videosAccepted'] ?? 0);
  }

  async function charges(): Promise<string[]> {
    return (await billing.query<{ state: string }>('SELECT state FROM charges')).rows.map(
      ({ state }) => state,
    );
  }

  async function killedBy(point: string, request: { path: string; body: object }): Promise<void> {
    await start({ CRASH_AT: point });
    await expect(send(request)).rejects.toThrow();
    expect(await relay.gone).toBe('SIGKILL');
    await startAgain();
  }

  it.each(['upstream.accepted'])(
    'at %s gets an error for images, which are refunded, and sends nothing again',
    async (point) => {
      await killedBy(point, IMAGE);
      for (let repeat = 0; repeat < 2; repeat += 1) {
        const answer = await send(IMAGE);
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ error: { code: 'idempotency_outcome_unknown' } });
      }
      await until('the release', async () => (await charges()).join() === 'released');
      expect(await asked()).toBe(0);
    },
  );

  it('with its second model held gets an error, and both models are released', async () => {
    const models = ['imgmodel-4'];
    const several = { ...IMAGE, body: { ...IMAGE.body, models, prompt: '[[fault:reject-503]]' } };
    await killedBy('charge.held#2', several);
    const answer = await send(several);
    expect(await answer.json()).toMatchObject({ error: { code: 'idempotency_outcome_unknown' } });
    const areReleased = async () => (await charges()).join() === 'released,released';
    await until('the releases', areReleased);
    expect(await asked()).toBe(0);
  });

  it('between the models of a video starts over, since none had accepted it', async () => {
    const models = ['vidmodel-3'];
    const several = { ...VIDEO, body: { ...VIDEO.body, models, prompt: 'a boat [[fault:reject-503]]' } };
    await killedBy('task.before-insert#2', several);
    const answer = await send(several);
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'service_unavailable',
        message: expect.stringContaining(`${VIDEO.body.model}, vidmodel-3`),
      },
    });
    expect(await charges()).toEqual(['released', 'released', 'released']);
    const { rows } = await billing.query('SELECT model_id, state FROM tasks ORDER BY created_at, id');
    const [first, second] = [VIDEO.body.model, ...models].map((model_id) => ({ model_id, state: 'failed' }));
    expect(rows).toEqual([first, first, second]);
  });

  it('with the second model of a video held gets its task, and both models are released', async () => {
    const models = ['vidmodel-3'];
    const several = { ...VIDEO, body: { ...VIDEO.body, models, prompt: 'a boat [[fault:reject-503]]' } };
    await killedBy('charge.held#2', several);
    const answer = await send(several);
    expect([answer.status, answer.headers.get('x-served-model')]).toEqual([200, 'vidmodel-3']);
    await until('the releases', async () => (await charges()).join() === 'released,released');
    expect(await asked()).toBe(0);
  });

  it.each(['charge.held', 'upstream.accepted'])(
    'at %s gets the task of a video, which ends as it would have',
    async (point) => {
      await killedBy(point, VIDEO);
      const [first, second] = [await send(VIDEO), await send(VIDEO)];
      expect([first.status, second.status]).toEqual([200, 200]);
      const { id } = (await first.json()) as { id: string };
      expect(await second.json()).toMatchObject({ id });
      const ended = await until('the end of the charge', async () => {
        const states = (await charges()).join();
        return states !== 'held' && states;
      });
      expect(ended).toBe(point === 'charge.held' ? 'released' : 'settled');
      const { rows } = await billing.query('SELECT id FROM tasks');
      expect(rows).toEqual([{ id }]);
    },
  );
});
