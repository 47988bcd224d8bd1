import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MULTIPART } from './limits.js';
import { readForm } from './multipart-body.js';

let server: FastifyInstance;
let sockets: Socket[];
/** Before a body is read. */
let before: (request: FastifyRequest) => Promise<unknown>;
/** What the parser got. */
let parsed: Buffer[];
let read: PromiseWithResolvers<unknown>;

beforeEach(async () => {
  [sockets, parsed, before, read] = [[], [], () => Promise.resolve(), Promise.withResolvers()];
  server = Fastify();
  await server.register(multipart);
  server.post('/', async (request) => {
    await before(request);
    const form = readForm(request);
    request.raw.on('data', (bytes: Buffer) => parsed.push(Buffer.from(bytes)));
    read.resolve(form.catch(({ code }: { code: string }) => code));
    return (await form).length;
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

async function begin(length: number, text: string, boundary = 'xyz'): Promise<Socket> {
  const { port } = server.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${type}\r\nContent-Length: ${length}\r\n\r\n${text}`);
  return socket;
}

it.each(['', '--xyz\r\n', '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'])(
  'the form of a client that left before it was read ends, after %j',
  async (text) => {
    const arrived = Promise.withResolvers<void>();
    before = async ({ raw }) => {
      arrived.resolve();
      if (!raw.destroyed) await new Promise((resolve) => raw.once('close', resolve));
    };
    const socket = await begin(1_000, text);
    await arrived.promise;
    socket.destroy();
    expect(await read.promise).toBe('invalid_multipart');
  },
);

it('the form of a client that leaves while it is read ends', async () => {
  const arrived = Promise.withResolvers<void>();
  before = async () => arrived.resolve();
  const socket = await begin(1_000, '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf');
  await arrived.promise;
  socket.destroy();
  expect(await read.promise).toBe('invalid_multipart');
});

const partOf = (name: string) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
const timesIn = (text: string, part: string) => text.split(part).length - 1;

it.each([
  ['empty', '--xyz\r\n\r\n\r\n'],
  ['named', partOf('a')],
])('a form of thousands of %s parts is refused before they are parsed', async (_what, part) => {
  const body = `${part.repeat(20_000)}--xyz--\r\n`;
  await begin(body.length, body);
  expect(await read.promise).toBe('request_too_large');
  expect(timesIn(Buffer.concat(parsed).toString(), '--xyz')).toBeLessThan(
    MULTIPART.fields + MULTIPART.files + 2,
  );
});

it('what is within a part may look like the start of another', async () => {
  const content = '\r\n--xy'.repeat(10_000);
  const body = `${partOf('a')}${partOf('b').replace('1', content)}--xyz--\r\n`;
  await begin(body.length, body);
  expect(await read.promise).toMatchObject([
    ['a', '1', null],
    ['b', content, null],
  ]);
});

it('all parts that a form may have are read, in pieces of any length', async () => {
  const names = Array.from({ length: MULTIPART.fields }, (_, index) => `field${index}`);
  const body = `first\r\n${names.map(partOf).join('')}--xyz--\r\nlast`;
  const socket = await begin(body.length, '');
  socket.setNoDelay();
  for (let at = 0; at < body.length; at += 7) {
    socket.write(body.slice(at, at + 7));
    await turn();
  }
  expect(await read.promise).toMatchObject(names.map((name) => [name, '1', null]));
});

it.each(['"x y z"', "'()+_,-./:=?", '----WebKitFormBoundary7MA4YWxkTrZu0gW', '==x==; charset=utf-8'])(
  'the boundary %s is read',
  async (sent) => {
    const boundary = sent.replace('; charset=utf-8', '').replaceAll('"', '');
    const body = `${partOf('a')}--xyz--\r\n`.replaceAll('--xyz', `--${boundary}`);
    await begin(body.length, body, sent);
    expect(await read.promise).toMatchObject([['a', '1', null]]);
  },
);

it.each(['', '""', 'x\\y', 'x'.repeat(300)])('a form with the boundary %j is refused', async (boundary) => {
  await begin(7, '--xyz--', boundary);
  expect(await read.promise).toBe('invalid_multipart');
});
