import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { AnsweredSocket } from './answered-socket.js';

/** It passes only when a test says so. */
const LIMIT_MS = 2_500;

describe('a connection that needs answers', () => {
  let server: Server;
  let answer: (request: Buffer, client: Socket) => void;
  let socket: AnsweredSocket;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
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
    vi.useRealTimers();
    socket.destroy();
    server.close();
    await once(server, 'close');
  });

  /** Keeps sending requests until the limit is over. */
  async function whenOver(): Promise<string> {
    const broken = once(socket, 'error');
    for (let part = 0; part < 5; part += 1) {
      expect(socket.destroyed).toBe(false);
      socket.write('still there?');
      vi.advanceTimersByTime(LIMIT_MS / 5);
    }
    const [error] = await broken;
    return (error as Error).message;
  }

  it('breaks if the other end never answers, however often it is asked', async () => {
    answer = () => undefined;
    expect(await whenOver()).toBe(`no answer within ${LIMIT_MS} ms`);
  });

  it('breaks if the other end falls silent', async () => {
    answer = (request, client) => client.write(request);
    socket.write('still there?');
    await once(socket, 'data');
    answer = () => undefined;
    expect(await whenOver()).toBe(`no answer within ${LIMIT_MS} ms`);
  });

  it('stays open while it is answered, and while nothing is asked', async () => {
    answer = (request, client) => client.write(request);
    for (let request = 0; request < 5; request += 1) {
      socket.write('still there?');
      await once(socket, 'data');
      vi.advanceTimersByTime(LIMIT_MS - 1);
    }
    vi.advanceTimersByTime(2 * LIMIT_MS);
    expect(socket.destroyed).toBe(false);
  });
});
