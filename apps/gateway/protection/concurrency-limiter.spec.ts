import Fastify, { type FastifyInstance } from 'fastify';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ApiError } from '#platform/errors.js';
import { until } from '../../../test/support/eventually.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';

const MOST = 100;
const FEW = { requestsPerMinute: 1, concurrentRequests: 1 };

let server: FastifyInstance;
let opened: PromiseWithResolvers<void>;
/** Of requests that are held up before their handler. */
let held: PromiseWithResolvers<void>;
let waiting: number;
let closed: number;
let inside: number;

beforeEach(async () => {
  opened = Promise.withResolvers();
  held = Promise.withResolvers();
  waiting = closed = inside = 0;
  server = Fastify();
  server.decorateRequest('caller', null);
  server.setErrorHandler((error: ApiError, _request, reply) => reply.code(error.status).send(error.message));
  server.addHook('onRequest', async (incoming, reply) => {
    reply.raw.once('close', () => (closed += 1));
    const { 'x-account': accountId, 'x-hold': before } = incoming.headers;
    if (before === 'admission') await hold();
    if (accountId) incoming.caller = { accountId, keyId: 'key', group: 'Main' } as typeof incoming.caller;
  });
  new ConcurrencyLimiter({ key: FEW, account: FEW }).install(server);
  server.get('/file', { config: { access: 'signed' } as never }, async () => {
    inside += 1;
    await opened.promise;
    return 'the file';
  });
  server.addHook('preHandler', async ({ headers }) => {
    if (headers['x-hold'] === 'handler') await hold();
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close());

function hold(): Promise<void> {
  waiting += 1;
  return held.promise;
}

/** A request whose client leaves before it is admitted, or before its handler begins. */
function leaveBefore(what: 'admission' | 'handler', more: Record<string, string> = {}): Promise<void> {
  const { port } = server.server.address() as AddressInfo;
  const before = waiting;
  const headers = { 'x-hold': what, ...more };
  const leaving = request({ port, host: '127.0.0.1', path: '/file', headers, agent: false });
  leaving.on('error', () => undefined).end();
  return until('it to wait', async () => waiting > before).then(() => void leaving.destroy());
}

/** @param from an address of this machine @returns the status */
function download(from: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const { port } = server.server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/file', headers, localAddress: from, agent: false })
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });
}

it('lets one network have some downloads without a key, while others have theirs', async () => {
  const first = Array.from({ length: MOST }, () => download('127.0.0.1'));
  await until('all of them to be in progress', async () => inside === MOST);
  expect(await download('127.0.0.1')).toBe(429);
  const other = download('127.0.0.2');
  await until('another network to be let in', async () => inside === MOST + 1);
  opened.resolve();
  expect(await Promise.all([...first, other])).toEqual(Array.from({ length: MOST + 1 }, () => 200));
  expect(await download('127.0.0.1')).toBe(200);
});

it('counts a request once whose client leaves before its handler begins', async () => {
  for (let leavers = 0; leavers < 3; leavers += 1) await leaveBefore('handler');
  await until('them to have left', async () => closed === 3);
  held.resolve();
  await until('their handlers to run', async () => inside === 3);
  // Those three are in progress, although nobody waits for them.
  expect(await statusesOf(MOST)).toEqual({ 200: MOST - 3, 429: 3 });
  // And once they are not, there are no more places than before.
  opened = Promise.withResolvers();
  expect(await statusesOf(MOST + 3)).toEqual({ 200: MOST, 429: 3 });
});

it('does not count for ever a request whose client leaves while its key is looked up', async () => {
  const alice = { 'x-account': 'alice' };
  await leaveBefore('admission', alice);
  await until('it to have left', async () => closed === 1);
  held.resolve();
  await until('its handler to run', async () => inside === 1);
  expect(await download('127.0.0.1', alice)).toBe(429);
  opened.resolve();
  await until('it to be over', async () => (await download('127.0.0.1', alice)) === 200);
});

/** How many of these requests have which status; all of them are sent before any is answered. */
async function statusesOf(count: number): Promise<Record<number, number>> {
  const insideBefore = inside;
  let refused = 0;
  const all = Array.from({ length: count }, async () => {
    const status = await download('127.0.0.1');
    if (status === 429) refused += 1;
    return status ?? 0;
  });
  await until('all of them to be decided', async () => inside - insideBefore + refused === count);
  opened.resolve();
  return Object.fromEntries(
    [...Map.groupBy(await Promise.all(all), (status) => status)].map(([status, { length }]) => [
      status,
      length,
    ]),
  );
}
