import Fastify, { type FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { breakStalledAnswers } from './stalled-client.js';

const STALL_MS = 300;
/** More than the two sockets of a connection can hold together. */
const LARGE = 64 * 1024 * 1024;

let server: FastifyInstance;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeEach(async () => {
  server = Fastify();
  breakStalledAnswers(server, STALL_MS);
  server.get('/text', (_request, reply) => reply.send('x'.repeat(LARGE)));
  server.get('/bytes', (_request, reply) => reply.send(Buffer.alloc(LARGE)));
  server.get('/small', (_request, reply) => reply.send('small'));
  server.get('/late', async () => setTimeout(4 * STALL_MS, 'late'));
  server.get('/stream', (_request, reply) => reply.send(Readable.from(slowly())));
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close());

async function* slowly() {
  yield 'one ';
  yield await setTimeout(4 * STALL_MS, 'two');
}

/** The body has not been read yet. */
async function ask(path: string): Promise<IncomingMessage> {
  const { port } = server.server.address() as { port: number };
  const call = request({ port, host: '127.0.0.1', path, agent }).end();
  return ((await once(call, 'response')) as [IncomingMessage])[0];
}

async function read(path: string): Promise<string> {
  return Buffer.concat(await (await ask(path)).toArray()).toString();
}

it.each(['/text', '/bytes'])('a client that reads nothing of %s is disconnected', async (path) => {
  const answered = once(server.server, 'request');
  const response = await ask(path);
  const [, raw] = (await answered) as [unknown, NodeJS.EventEmitter];
  await once(raw, 'close');
  await expect(response.toArray()).rejects.toThrow('aborted');
});

it('a client that reads gets all, and later answers of the same connection may take longer', async () => {
  expect(await read('/text')).toHaveLength(LARGE);
  expect(await read('/small')).toBe('small');
  expect(await read('/late')).toBe('late');
  expect(await read('/stream')).toBe('one two');
});
