import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readForm } from './multipart-body.js';

let server: FastifyInstance;
let sockets: Socket[];
/** Before a body is read. */
let before: (request: FastifyRequest) => Promise<unknown>;
let read: PromiseWithResolvers<unknown>;

beforeEach(async () => {
  [sockets, before, read] = [[], () => Promise.resolve(), Promise.withResolvers()];
  server = Fastify();
  await server.register(multipart);
  server.post('/', async (request) => {
    await before(request);
    const form = readForm(request);
    read.resolve(form.catch(({ code }: { code: string }) => code));
    return (await form).length;
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

async function begin(length: number, text: string): Promise<Socket> {
  const { port } = server.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  const type = 'Content-Type: multipart/form-data; boundary=xyz';
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
