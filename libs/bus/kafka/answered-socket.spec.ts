import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { AnsweredSocket } from './answered-socket.js';

/** Both ends are in this process, which must not stand still for so long. */
const LIMIT_MS = 2_500;

describe('a connection that needs answers', () => {
  let server: Server;
  let answer: (request: Buffer, client: Socket) => void;
  let socket: AnsweredSocket;

  beforeEach(async () => {
    server = createServer((client) => {
      client.on('data', (request: Buffer) => answer(request, client));
      client.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = new AnsweredSocket(LIMIT_MS);
    socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
  });
  afterEach(async () => {
    socket.destroy();
    server.close();
    await once(server, 'close');
  });

  /** Keeps sending requests until the connection breaks. */
  async function untilBroken(): Promise<string> {
    const asking = setInterval(() => socket.write('still there?'), LIMIT_MS / 5);
    const [error] = await once(socket, 'error');
    clearInterval(asking);
    return (error as Error).message;
  }

  it('breaks if the other end never answers, however often it is asked', async () => {
    answer = () => undefined;
    expect(await untilBroken()).toBe(`no answer within ${LIMIT_MS} ms`);
  });

  it('breaks if the other end falls silent', async () => {
    answer = (request, client) => client.write(request);
    socket.write('still there?');
    await once(socket, 'data');
    answer = () => undefined;
    expect(await untilBroken()).toBe(`no answer within ${LIMIT_MS} ms`);
  });

  it('stays open while it is answered, and while nothing is asked', async () => {
    answer = (request, client) => client.write(request);
    const beganAt = performance.now();
    while (performance.now() - beganAt < 2 * LIMIT_MS) {
      socket.write('still there?');
      await once(socket, 'data');
    }
    await new Promise((resolve) => setTimeout(resolve, 2 * LIMIT_MS));
    expect(socket.destroyed).toBe(false);
  });
});
