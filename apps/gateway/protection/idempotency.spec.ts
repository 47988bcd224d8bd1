import { afterAll, beforeAll, expect, it } from 'vitest';
import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance } from 'fastify';
import type pg from 'pg';
import { inTransaction, openPool } from '#database/database.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { createLogger } from '#platform/logging.js';
import type { FileStore } from '#storage/file-store.js';
import { TaskStore } from '#tasks/task.store.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { Idempotency } from './idempotency.js';
import { IdempotencyStore } from './idempotency.store.js';

const MINUTE_MS = 60_000;

let ledger: LedgerFixture;
let pool: pg.Pool;
const servers: FastifyInstance[] = [];

beforeAll(async () => {
  ledger = await createLedgerFixture();
  pool = openPool({ url: ledger.urlFor('gateway'), max: 4, applicationName: 'spec' });
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await pool.end();
  await ledger.close();
});

interface OwnRow {
  isLeft: () => Promise<boolean>;
  renew: () => Promise<void>;
  free: () => Promise<void>;
}

/** A server with a paid route, which does what the test says between two models. */
async function serving(leaseMs: number, between: (own: OwnRow) => Promise<unknown>) {
  const { keyId } = await ledger.account({ credits: '0' });
  const store = new IdempotencyStore(pool);
  const find = () => store.find(keyId, 'once');
  const tasks = new TaskStore(pool);
  const log = createLogger('spec', 'silent');
  const idempotency = new Idempotency({
    store,
    files: {} as FileStore,
    tasks,
    log,
    lifeMs: MINUTE_MS,
    leaseMs,
  });
  const server = Fastify({ genReqId: newId });
  servers.push(server);
  await server.register(multipart);
  server.decorateRequest('caller', null);
  server.addHook('onRequest', async (request) => {
    request.caller = { keyId } as Caller;
  });
  idempotency.install(server);
  server.post('/', { config: { paid: true } }, async (request) => {
    await between({
      isLeft: async () => (await find())?.isLeft === true,
      renew: () => store.renew([request.id], MINUTE_MS),
      free: () => store.free(request.id),
    });
    return inTransaction(pool, (client) => idempotency.requireLease(client, request.id)).then(
      () => 'goes on',
      ({ code }: ApiError) => code,
    );
  });
  const answer = async () =>
    (await server.inject({ method: 'POST', url: '/', headers: { 'idempotency-key': 'once' }, payload: {} }))
      .body;
  return { answer, find };
}

it('lets a request continue with another model while its lease holds', async () => {
  const { answer } = await serving(MINUTE_MS, () => Promise.resolve());
  expect(await answer()).toBe('goes on');
});

it('does not if a repeat may have seen it abandoned, and leaves its row to other repeats', async () => {
  const { answer, find } = await serving(50, ({ isLeft }) => until('the end of the lease', isLeft));
  expect(await answer()).toBe('idempotency_outcome_unknown');
  expect(await find()).toMatchObject({ isLeft: true, answer: null });
});

it('does not with a lease that was renewed after its end', async () => {
  const { answer } = await serving(50, async ({ isLeft, renew }) => {
    await until('the end of the lease', isLeft);
    await renew();
  });
  expect(await answer()).toBe('idempotency_outcome_unknown');
});

it('does not if a repeat has started over, although its own clock says that the lease holds', async () => {
  const { answer, find } = await serving(MINUTE_MS, ({ free }) => free());
  expect(await answer()).toBe('idempotency_outcome_unknown');
  expect(await find()).toBeNull();
});
