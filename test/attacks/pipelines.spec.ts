import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Relay, startRelay } from '../support/relay.js';

const ANSWERED = 'http.server.response.finish';
const AHEAD = 90;

let relay: Relay;
let answered: IncomingMessage[] = [];
const sockets: Socket[] = [];
const onAnswer = (message: unknown) => void answered.push((message as { request: IncomingMessage }).request);

beforeAll(async () => {
  relay = await startRelay();
  subscribe(ANSWERED, onAnswer);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  answered = [];
});
afterAll(async () => {
  unsubscribe(ANSWERED, onAnswer);
  await closeClean(relay);
});

async function connected(to: 'gateway' | 'console'): Promise<Socket> {
  const { port } = new URL(to === 'gateway' ? relay.baseUrl : relay.consoleUrl);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

const requestOf = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

describe.each<['gateway' | 'console', string, string]>([
  ['gateway', 'with a bad key', requestOf('GET /v1/models', 'Authorization: Bearer nothing')],
  ['gateway', 'without a path', requestOf('GET /nowhere')],
  ['gateway', 'that the router refuses', requestOf('GET /%zz')],
  ['gateway', 'with a body and no key', `${requestOf('POST /v1/images/generations', 'Content-Length: 1')}{`],
  ['console', 'without a path', requestOf('GET /api/nowhere')],
  ['console', 'without a session', requestOf('GET /api/account')],
])('refused requests to the %s, %s', (to, _, refused) => {
  it('leave turns to others when one connection sends many at once', async () => {
    const [hostile, honest] = [await connected(to), await connected(to)];
    hostile.write(refused.repeat(AHEAD));
    honest.write(requestOf('GET /honest'));
    await once(honest, 'data');
    expect(answered.some(({ url }) => url === '/honest')).toBe(true);
    expect(answered.length).toBeLessThan(AHEAD);
  });

  it('close a connection that sends thousands at once', async () => {
    const hostile = await connected(to);
    hostile.write(refused.repeat(5_000));
    // It may be reset, which is no failure here.
    await new Promise((resolve) => hostile.once('close', resolve));
    expect(answered.length).toBeLessThan(2 * AHEAD);
  });
});
