import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { protocolNames, Upstreams } from './adapters.js';
import { FileUnavailable } from './file-download.js';
import { isPublicAddress, publicOnly } from './public-address.js';
import { channelTo, json, startStub, type StubUpstream } from './upstream.fixture.js';

let upstreams: Upstreams;
const stubs: StubUpstream[] = [];

beforeEach(() => {
  upstreams = new Upstreams();
});

afterEach(async () => {
  await upstreams.close();
  await Promise.all(stubs.splice(0).map((stub) => stub.close()));
});

async function stubOf(...parameters: Parameters<typeof startStub>): Promise<StubUpstream> {
  const stub = await startStub(...parameters);
  stubs.push(stub);
  return stub;
}

const options = () => ({ signal: AbortSignal.timeout(60_000), maxBytes: 1000 });

async function read(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('opening a file', () => {
  it('follows redirects, and shows the key only to the channel’s own origin', async () => {
    const cdn = await stubOf((_, response) => response.end('the file'));
    const vendor = await stubOf((_, response) => response.writeHead(302, { location: `${cdn.url}/f` }).end());
    const channel = channelTo(vendor.url);
    const file = await upstreams
      .adapterFor('openai-xai')
      .openFile(channel, `${vendor.url}/content`, options());
    expect(await read(file.body)).toBe('the file');
    expect(vendor.requests[0]?.headers.authorization).toBe('Bearer upstream-key');
    expect(cdn.requests[0]?.headers.authorization).toBeUndefined();
  });

  /** Videos on Vertex AI have no URL: they are inside their operation. */
  const byAddress = protocolNames.filter((name) => name !== 'vertex');

  it('opens no URL if files have none', async () => {
    const other = await stubOf((_, response) => response.end('the file'));
    const channel = channelTo(other.url, { protocol: 'vertex' });
    const opening = upstreams.adapterFor('vertex').openFile(channel, `${other.url}/f`, options());
    await expect(opening).rejects.toThrow(FileUnavailable);
    expect(other.requests).toEqual([]);
  });

  it.each(byAddress)('shows no other host a key, whichever header contains it: %s', async (protocol) => {
    const other = await stubOf((_, response) => response.end('the file'));
    const vendor = await stubOf((_, response) => response.writeHead(307, { location: other.url }).end());
    const adapter = upstreams.adapterFor(protocol);
    for (const named of [vendor.url, other.url]) {
      const file = await adapter.openFile(channelTo(vendor.url, { protocol }), `${named}/f`, options());
      await read(file.body);
    }
    expect(JSON.stringify(vendor.requests[0]?.headers)).toContain('upstream-key');
    expect(other.requests).toHaveLength(2);
    expect(JSON.stringify(other.requests)).not.toContain('upstream-key');
  });

  it('gives up on circular redirects', async () => {
    const loop = await stubOf((_, response) => response.writeHead(302, { location: '/again' }).end());
    const opening = upstreams
      .adapterFor('openai-xai')
      .openFile(channelTo(loop.url), `${loop.url}/f`, options());
    await expect(opening).rejects.toThrow(FileUnavailable);
    expect(loop.requests.length).toBeLessThan(10);
  });

  it.each([404, 500, 206, 204])('refuses status %i', async (status) => {
    const stub = await stubOf((_, response) => json(response, status, ''));
    const opening = upstreams
      .adapterFor('openai-xai')
      .openFile(channelTo(stub.url), `${stub.url}/f`, options());
    await expect(opening).rejects.toThrow(`HTTP ${status}`);
  });

  it('refuses a file that announces more than is allowed', async () => {
    const stub = await stubOf((_, response) => response.end('x'.repeat(1001)));
    const opening = upstreams
      .adapterFor('openai-xai')
      .openFile(channelTo(stub.url), `${stub.url}/f`, options());
    await expect(opening).rejects.toThrow('1001 bytes announced');
  });

  it.each([{ 'content-length': '100' }, { 'transfer-encoding': 'chunked' }])(
    'ends with an error if fewer bytes come than announced (%j)',
    async (headers) => {
      const stub = await stubOf((_, response) => {
        response.writeHead(200, headers);
        response.write('half', () => response.destroy());
      });
      const adapter = upstreams.adapterFor('openai-xai');
      const { body } = await adapter.openFile(channelTo(stub.url), `${stub.url}/f`, options());
      await expect(read(body)).rejects.toThrow();
    },
  );

  it('leaves no connection open for as long as its host would like', async () => {
    let closed: Promise<unknown> | undefined;
    const stub = await stubOf(({ socket }, response) => {
      closed = once(socket, 'close', { signal: AbortSignal.timeout(60_000) });
      // From here on, only the client closes it.
      response.once('finish', () => socket.setTimeout(0));
      response.writeHead(200, { 'keep-alive': 'timeout=600' }).end('the file');
    });
    const url = new URL(`${stub.url}/f`);
    await upstreams.fetchAddress(url, { ...options(), allowPrivateAddress: true });
    await closed;
  });

  it('ends with an error if it is given up', async () => {
    const stub = await stubOf((_, response) => void response.writeHead(200).write('first'));
    const limit = new AbortController();
    const adapter = upstreams.adapterFor('openai-xai');
    const with_ = { signal: limit.signal, maxBytes: 1000 };
    const { body } = await adapter.openFile(channelTo(stub.url), `${stub.url}/f`, with_);
    await once(body, 'readable');
    limit.abort();
    await expect(read(body)).rejects.toThrow();
  });
});

describe('addresses that an upstream may not name', () => {
  const strict = () => channelTo('https://vendor.example', { allowPrivateAddress: false });
  const open = (url: string) => upstreams.adapterFor('openai-xai').openFile(strict(), url, options());

  it.each([
    'http://127.0.0.1:1/f',
    'http://2130706433/f',
    'http://0.0.0.0/f',
    'http://10.1.2.3/f',
    'http://172.16.0.1/f',
    'http://192.168.1.1/f',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/f',
    'http://[::1]/f',
    'http://[::ffff:127.0.0.1]/f',
    'http://[fe80::1]/f',
    'http://[fd00::1]/f',
    'http://[64:ff9b::7f00:1]/f',
    'file:///etc/passwd',
    'ftp://files.example/f',
  ])('%s', async (url) => {
    await expect(open(url)).rejects.toThrow('is not a public address');
  });

  it('are found behind a name, by the connection’s lookup', async () => {
    const stub = await stubOf((_, response) => response.end('secret'));
    await expect(open(stub.url.replace('127.0.0.1', 'localhost'))).rejects.toThrow('has no public address');
    expect(stub.requests).toEqual([]);
  });

  it('are refused by the lookup in both of its forms', async () => {
    for (const all of [true, false]) {
      const error = await new Promise((resolve) => publicOnly()('localhost', { all }, resolve));
      expect(error).toMatchObject({ name: 'ForbiddenAddress' });
    }
  });

  it('are distinguished from public ones', () => {
    expect(['1.1.1.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'].map(isPublicAddress)).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      ['224.0.0.1', '255.255.255.255', '198.18.0.1', '2001:db8::1', 'x', ''].map(isPublicAddress),
    ).toEqual(Array(6).fill(false));
  });
});

describe('the bytes of an image', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

  it('come from base64 or from a URL, with their real type', async () => {
    const stub = await stubOf((_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(png),
    );
    const channel = channelTo(stub.url);
    const signal = AbortSignal.timeout(60_000);
    const expected = { bytes: png, mime: 'image/png', extension: 'png' };
    expect(await upstreams.fetchImage(channel, { b64: png.toString('base64') }, signal)).toEqual(expected);
    expect(await upstreams.fetchImage(channel, { url: `${stub.url}/1.png` }, signal)).toEqual(expected);
  });

  it('must be an image, complete and at a permitted address', async () => {
    const stub = await stubOf((request, response) => {
      response.writeHead(200, { 'content-length': String(png.length) });
      if (request.url === '/half') return void response.write(png.subarray(0, 10), () => response.destroy());
      return void response.end('<!doctype html>!');
    });
    const fetchImage = (url: string, allowPrivateAddress = true) =>
      upstreams.fetchImage(
        channelTo(stub.url, { allowPrivateAddress }),
        { url },
        AbortSignal.timeout(60_000),
      );
    await expect(fetchImage(`${stub.url}/html`)).rejects.toThrow('no image');
    await expect(fetchImage(`${stub.url}/half`)).rejects.toThrow(FileUnavailable);
    await expect(fetchImage(`${stub.url}/html`, false)).rejects.toThrow('is not a public address');
    await expect(fetchImage('not an address')).rejects.toThrow(FileUnavailable);
  });
});
