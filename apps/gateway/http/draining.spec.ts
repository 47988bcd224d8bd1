import { afterEach, beforeEach, expect, it } from 'vitest';
import { once } from 'node:events';
import Fastify, { type FastifyInstance } from 'fastify';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Draining } from './draining.js';

/** Only a hang takes this long. */
const HANG_MS = 600_000;

let server: FastifyInstance;
let agent: Agent;

beforeEach(async () => {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  server = Fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
  server.get('/', () => 'ok');
});
afterEach(async () => {
  agent.destroy();
  await server.close();
});

async function listening(limitMs: number): Promise<Draining> {
  const draining = new Draining(server, limitMs);
  await server.listen({ host: '127.0.0.1', port: 0 });
  return draining;
}

async function call(path = '/'): Promise<IncomingMessage> {
  const { port } = server.server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, agent }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  return answer;
}

it('ends each connection with the answer to its next call', async () => {
  const draining = await listening(HANG_MS);
  expect((await call()).headers.connection).toBe('keep-alive');
  const drained = draining.run();
  expect((await call()).headers.connection).toBe('close');
  await drained;
});

it('ends a connection with the answer to the call in progress', async () => {
  const waiting = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  server.get('/slow', () => {
    begun.resolve();
    return waiting.promise;
  });
  const draining = await listening(HANG_MS);
  const answer = call('/slow');
  await begun.promise;
  const drained = draining.run();
  waiting.resolve('ok');
  expect((await answer).headers.connection).toBe('close');
  await drained;
});

it('does not wait longer for a connection without a call', async () => {
  const draining = await listening(100);
  await call();
  await draining.run();
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
});

it('serves a call that had arrived but was not read when it closes', async () => {
  const draining = await listening(0);
  await call();
  await draining.run();
  const answer = call();
  // By then, it has been written to the kept connection.
  await new Promise((resolve) => process.nextTick(resolve));
  await server.close();
  expect((await answer).statusCode).toBe(200);
});
