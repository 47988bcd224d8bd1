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
let inside: number;

beforeEach(async () => {
  opened = Promise.withResolvers();
  inside = 0;
  server = Fastify();
  server.decorateRequest('caller', null);
  server.setErrorHandler((error: ApiError, _request, reply) => reply.code(error.status).send(error.message));
  new ConcurrencyLimiter({ key: FEW, account: FEW }).install(server);
  server.get('/file', { config: { access: 'signed' } as never }, async () => {
    inside += 1;
    await opened.promise;
    return 'the file';
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close());

/** @param from an address of this machine @returns the status */
function download(from: string): Promise<number | undefined> {
  const { port } = server.server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/file', localAddress: from, agent: false })
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
