import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Relay, startRelay } from '../support/relay.js';

const ANSWERED = 'http.server.response.finish';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => relay?.close());

/** Whether a server stops waiting for a client that does not read its answer. */
async function isLimited(url: string): Promise<boolean> {
  const { port, pathname } = new URL(url);
  const limits: boolean[] = [];
  const onAnswer = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const isOurs = request.socket.localPort === Number(port) && request.url === pathname;
    if (isOurs) limits.push(response.listenerCount('timeout') > 0);
  };
  subscribe(ANSWERED, onAnswer);
  await (await fetch(url)).text();
  unsubscribe(ANSWERED, onAnswer);
  expect(limits).toHaveLength(1);
  return limits[0]!;
}

describe('a client that does not read its answer', () => {
  it('is disconnected by the gateway, whatever it answers', async () => {
    for (const path of ['/v1/models', '/nowhere']) expect(await isLimited(relay.baseUrl + path)).toBe(true);
  });

  it('is disconnected by the console, whatever it answers', async () => {
    for (const path of ['/api/public/status', '/api/nowhere'])
      expect(await isLimited(relay.consoleUrl + path)).toBe(true);
  });
});
