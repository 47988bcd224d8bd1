import { afterEach, describe, expect, it } from 'vitest';
import Fastify, { type FastifyInstance } from 'fastify';
import { ConfigReader } from '../config.js';
import { trustedHops } from './proxies.js';

let server: FastifyInstance;
afterEach(() => server?.close());

async function addressSeen(proxies: number, forwarded: string): Promise<string> {
  server = Fastify({ trustProxy: trustedHops(proxies) });
  server.get('/', async (request) => request.ip);
  return (await server.inject({ url: '/', headers: { 'x-forwarded-for': forwarded } })).body;
}

describe('the address of a caller', () => {
  it.each([
    { proxies: 0, forwarded: '203.0.113.9', seen: '127.0.0.1' },
    { proxies: 1, forwarded: '203.0.113.9', seen: '203.0.113.9' },
    { proxies: 1, forwarded: '192.0.2.1, 203.0.113.9', seen: '203.0.113.9' },
    { proxies: 2, forwarded: '192.0.2.1, 203.0.113.9, 10.0.0.1', seen: '203.0.113.9' },
  ])('behind $proxies proxies that say "$forwarded" is $seen', async ({ proxies, forwarded, seen }) => {
    expect(await addressSeen(proxies, forwarded)).toBe(seen);
  });
});

describe('TRUST_PROXY', () => {
  it.each([
    { text: undefined, proxies: 0 },
    { text: 'false', proxies: 0 },
    { text: 'true', proxies: 1 },
    { text: '2', proxies: 2 },
  ])('$text is $proxies', ({ text, proxies }) => {
    expect(new ConfigReader({ TRUST_PROXY: text }).get('TRUST_PROXY')).toBe(proxies);
  });

  it('cannot be anything else', () => {
    const reader = new ConfigReader({ TRUST_PROXY: '10.0.0.0/8' });
    reader.get('TRUST_PROXY');
    expect(() => reader.finish({})).toThrow(/TRUST_PROXY must be true, false, or how many/);
  });
});
