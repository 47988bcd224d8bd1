import Fastify, { type FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { breakStalledAnswers } from './stalled-client.js';

const STALL_MS = 300;
/** More than the two sockets of a connection can hold together. */
const LARGE = 64 * 1024 * 1024;

let server: FastifyInstance;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterEach(() => server.close());

async function serve(stallMs?: number): Promise<void> {
  server = Fastify();
  breakStalledAnswers(server, stallMs);
  server.get('/text', (_request, reply) => reply.send('x'.repeat(LARGE)));
  server.get('/bytes', (_request, reply) => reply.send(Buffer.alloc(LARGE)));
  server.get('/limit', async ({ raw }) => limitOf(raw));
  server.get('/stream', ({ raw }, reply) => reply.send(Readable.from(limits(raw))));
  await server.listen({ host: '127.0.0.1', port: 0 });
}

/** How long the connection may make no progress now. 0: for ever. */
const limitOf = ({ socket }: IncomingMessage) => `${socket.timeout}`;

async function* limits(raw: IncomingMessage) {
  yield limitOf(raw);
  yield await setImmediate(` ${limitOf(raw)}`);
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
  await serve(STALL_MS);
  const answered = once(server.server, 'request');
  const response = await ask(path);
  const [, raw] = (await answered) as [unknown, NodeJS.EventEmitter];
  await once(raw, 'close');
  await expect(response.toArray()).rejects.toThrow('aborted');
});

it('a client that reads gets all, and waits for later answers and streams without a limit', async () => {
  await serve();
  expect(await read('/text')).toHaveLength(LARGE);
  expect(await read('/limit')).toBe('0');
  expect(await read('/stream')).toBe('0 0');
});
