import Fastify, { type FastifyInstance } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerInOrder, beginInOrder } from './answer-order.js';

const LARGE = 'x'.repeat(4 * 1024 * 1024);

let server: FastifyInstance;
let begun: string[];
let onBegun: (path: string) => void;
let sockets: Socket[];
/** Of the server. */
let accepted: Socket[];
const inWhich = new AsyncLocalStorage<string>();
let around: (string | undefined)[];

beforeEach(async () => {
  [begun, sockets, accepted, around, onBegun] = [[], [], [], [], () => undefined];
  const note = (url: string) => {
    begun.push(url);
    onBegun(url);
  };
  server = Fastify({
    // As servers answer what has no route.
    frameworkErrors: (_error, request, reply) =>
      beginInOrder(request, reply, () => {
        note('unroutable');
        reply.raw.end();
      }),
  });
  server.server.on('connection', (socket) => void accepted.push(socket));
  answerInOrder(server);
  server.addHook('onRequest', ({ url }, _reply, done) => {
    note(url);
    around.push(inWhich.getStore());
    inWhich.run(url, done);
  });
  server.get('/large', async () => LARGE);
  server.get('/:name', async ({ url }) => {
    await turn();
    return url;
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

async function connected(): Promise<Socket> {
  const { port } = server.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Once would reject for a connection that was reset. */
const closeOf = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

const requestOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Reads until the answer to this path came. Returns the paths that were answered. */
async function answersUpTo(socket: Socket, last: string): Promise<string[]> {
  let text = '';
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    text += bytes.toString();
    if (text.endsWith(last)) break;
  }
  return text.match(/\/\w+$|\/\w+(?=HTTP)/g) ?? [];
}

it.each([
  ['requests', requestOf('/ahead')],
  ['requests that have no route', requestOf('/%zz')],
])('%s that a connection sends ahead leave turns to others', async (_, request) => {
  const [hasty, other] = [await connected(), await connected()];
  onBegun = () => {
    onBegun = () => undefined;
    other.write(requestOf('/other'));
  };
  hasty.write(request.repeat(80));
  await answersUpTo(other, '/other');
  expect(begun).toContain('/other');
  expect(begun.length).toBeLessThan(80);
});

it('all that a connection sends ahead is answered in order, each in a context of its own', async () => {
  const socket = await connected();
  const paths = Array.from({ length: 100 }, (_, index) => `/path${index}`);
  socket.write(paths.map(requestOf).join(''));
  expect(await answersUpTo(socket, '/path99')).toEqual(paths);
  expect(around).toEqual(paths.map(() => undefined));
});

it('one after the other is answered on one connection', async () => {
  const socket = await connected();
  for (const path of ['/one', '/two', '/three']) {
    socket.write(requestOf(path));
    expect((await once(socket, 'data')).toString()).toContain(path);
  }
  expect(begun).toEqual(['/one', '/two', '/three']);
});

it('a connection whose answers nobody reads has one of them in memory', async () => {
  const socket = await connected();
  socket.pause();
  socket.write(requestOf('/large').repeat(80));
  while (!accepted[0]?.writableNeedDrain) await turn();
  const before = begun.length;
  for (let turns = 0; turns < 100; turns += 1) await turn();
  expect(begun.length).toBeLessThanOrEqual(before + 1);
  expect(begun.length).toBeLessThan(20);
});

it('a connection that sends too far ahead is closed, with what waits', async () => {
  const socket = await connected();
  socket.write(requestOf('/ahead').repeat(5_000));
  socket.resume();
  await closeOf(socket);
  expect(begun.length).toBeLessThan(200);
  const other = await connected();
  other.write(requestOf('/other'));
  expect(await answersUpTo(other, '/other')).toEqual(['/other']);
});
