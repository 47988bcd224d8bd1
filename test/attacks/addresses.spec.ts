import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from 'undici';
import { Upstreams } from '#upstream/adapters.js';
import { UpstreamConnections } from '#upstream/connections.js';
import { httpCall } from '#upstream/http-call.js';
import {
  askNameServers,
  connectPublicOnly,
  isPublicAddress,
  type Lookup,
  publicOnly,
} from '#upstream/public-address.js';
import { person } from '../support/console.js';
import { NameServer } from '../support/name-server.js';
import { json, type Relay, startRelay } from '../support/relay.js';

/** Every known way to write an internal address in a URL. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '0.0.0.0',
  '0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::1.1.1.1]',
  '[2002:7f00:1::]',
  '[2002:101:101::1]',
  '[2001::1]',
  '[2001:0:53aa:64c:0:fbff:80ff:fffe]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd00::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[5f00::1]',
  '[4000::1]',
  '[::8.8.8.8]',
];
const OUTSIDE = [
  '1.1.1.1',
  '8.8.8.8',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
  '2001:4860:4860::8888',
];

let server: Server;
let port: number;
let asked = 0;

beforeAll(async () => {
  server = createServer((_, response) => {
    asked += 1;
    response.end('the inside');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** A resolver that answers with the next of these each time. */
function resolver(...answers: string[]): Lookup {
  return (_, __, callback) => {
    const address = answers.shift() as string;
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }] as LookupAddress[]);
  };
}

describe('only global unicast is public', () => {
  it.each(OUTSIDE)('%s is', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(['fe80::1%eth0', '2606:4700:4700::1111%eth0', '0x7f.1', '127.1', '1.1.1', '', 'localhost', '::g'])(
    '%p is not',
    (address) => expect(isPublicAddress(address)).toBe(false),
  );

  it.each(INSIDE)('%s is not reached for a file', async (host) => {
    const upstreams = new Upstreams();
    const options = { signal: AbortSignal.timeout(60_000), maxBytes: 10, allowPrivateAddress: false };
    try {
      const url = `http://${host}:${port}/`;
      const opening = async () => upstreams.fetchAddress(new URL(url), options);
      await expect(opening()).rejects.toThrow('is not a public address');
    } finally {
      await upstreams.close();
    }
    expect(asked).toBe(0);
  });
});

describe('a connection', () => {
  const call = (agent: Agent | UpstreamConnections['publicFiles'], url: string) =>
    httpCall(agent, {
      method: 'GET',
      url: new URL(url),
      headers: {},
      timeoutMs: 5_000,
      maxBytes: 100,
      signal: AbortSignal.timeout(60_000),
    });

  it.each(['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1'])('to %s is not opened', async (host) => {
    const connections = new UpstreamConnections();
    try {
      const answer = await call(connections.publicFiles, `http://${host}:${port}/`);
      expect(answer).toMatchObject({ kind: 'failure', sent: false });
      expect(asked).toBe(0);
    } finally {
      await connections.close();
    }
  });

  it('goes to the address that was checked, however the name resolves the next time', async () => {
    const lookup = resolver('1.1.1.1', '127.0.0.1');
    const first = await new Promise((resolve) => {
      publicOnly(lookup)('files.example', { all: true }, (_, found) => resolve(found));
    });
    expect(first).toMatchObject([{ address: '1.1.1.1' }]);
    const agent = new Agent({ connect: connectPublicOnly({ timeout: 5_000, lookup }) });
    try {
      expect(await call(agent, `http://files.example:${port}/`)).toMatchObject({ sent: false });
      expect(asked).toBe(0);
    } finally {
      await agent.destroy();
    }
  });

  it('goes to an address from the name servers', async () => {
    const names = await NameServer.open(['files.example'], 0);
    const ask = (name: string) =>
      new Promise((resolve) =>
        askNameServers([names.address])(name, {}, (error, found) => resolve(error?.code ?? found)),
      );
    try {
      expect(await ask('files.example')).toEqual([{ address: '127.0.0.1', family: 4 }]);
      expect(await ask('others.example')).toBe('ENOTFOUND');
    } finally {
      await names.close();
    }
  });

  it('takes none of the few threads in which other names are resolved', async () => {
    const busy = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'GetAddrInfoReqWrap').length;
    const before = busy();
    const found = new Promise((resolve) => publicOnly()('files.invalid', { all: true }, resolve));
    expect(busy()).toBe(before);
    expect(await found).toMatchObject({ name: 'ForbiddenAddress' });
  });

  it('is not opened to a name with an internal address among others', async () => {
    const both: Lookup = (_, __, callback) =>
      callback(null, [
        { address: '1.1.1.1', family: 4 },
        { address: '::7f00:1', family: 6 },
      ]);
    const error = await new Promise((resolve) => publicOnly(both)('files.example', { all: true }, resolve));
    expect(error).toMatchObject({ name: 'ForbiddenAddress' });
  });

  it('fails the same way for an internal name and for one that does not exist', async () => {
    const missing: Lookup = (_, __, callback) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []);
    const failures = [resolver('127.0.0.1'), resolver('10.0.0.1'), missing].map(async (lookup) => {
      const agent = new Agent({ connect: connectPublicOnly({ timeout: 5_000, lookup }) });
      const answer = await call(agent, `http://db.internal:${port}/`);
      await agent.destroy();
      return answer;
    });
    const [first, ...others] = await Promise.all(failures);
    expect(others).toEqual([first, first]);
  });
});

describe('an installation', () => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay?.close());

  it('accepts no webhook to an internal address, however it is written', async () => {
    const { api } = await person(relay);
    for (const host of INSIDE) {
      const body = { url: `https://${host}/hook`, events: ['topup.credited' as const] };
      const { error } = await api.POST('/api/webhooks', { body });
      expect([host, error?.error.param]).toEqual([host, 'url']);
    }
  });

  it('fetches no internal image, and answers the same way for each', async () => {
    const customer = await relay.customer('1');
    const messages = new Set<string>();
    for (const host of ['127.0.0.1', '[::7f00:1]', '[2002:7f00:1::]', 'localhost', 'db.invalid']) {
      const body = { model: 'vendora-imagine-edit', prompt: 'x', image: { url: `http://${host}:${port}/` } };
      const response = await customer.send('/v1/images/edits', json(body));
      expect([host, response.status]).toEqual([host, 400]);
      messages.add(((await response.json()) as { error: { message: string } }).error.message);
    }
    expect(messages.size).toBe(1);
    expect(asked).toBe(0);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });
});
