import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, type Relay, startRelay, until } from '../support/relay.js';

const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse' };
const STRANGE = [
  'evil.example',
  'evil.example:80',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '10.1.2.3',
];
const LOOPBACK = ['127.0.0.1', '127.0.0.1:1234', 'localhost:8787', '[::1]:8787', 'LOCALHOST'];

interface Answer {
  status: number;
  body: string;
}

/** A raw request, because no client would send it. */
function ask(base: string, head: readonly string[], body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
    socket.once('error', reject);
    socket.once('close', () => {
      const [top = '', rest = ''] = answer.split('\r\n\r\n', 2);
      resolve({ status: Number(top.split(' ')[1]), body: rest });
    });
    const lines = [...head, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`, '', body];
    socket.write(lines.join('\r\n'));
  });
}

describe('a Host header', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay();
    customer = await relay.customer('1');
  });
  afterAll(() => closeClean(relay));

  const post = (path: string, host: string, body: object) => {
    const head = [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${customer.apiKey}`];
    return ask(relay.baseUrl, [...head, 'Content-Type: application/json'], JSON.stringify(body));
  };
  const get = (path: string, host: string) =>
    ask(relay.baseUrl, [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${customer.apiKey}`]);

  it.each(STRANGE)('that names a stranger (%s) is in no link, and costs nothing', async (host) => {
    const before = await customer.balance();
    for (const [path, body] of [
      ['/v1/images/generations', IMAGE],
      ['/v1/images/edits', { ...IMAGE, model: 'vendora-imagine-edit', image: 'AAAA' }],
    ] as const) {
      const answer = await post(path, host, body);
      expect(answer.status).toBe(421);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'unknown_host' } });
      expect(answer.body).not.toContain(host);
    }
    expect((await get('/openapi.json', host)).status).toBe(421);
    expect((await get('/docs', host)).status).toBe(421);
    expect(await customer.balance()).toEqual(before);
  });

  it('that names a stranger does not matter if there is no link', async () => {
    const image = await post('/v1/images/generations', 'evil.example', {
      ...IMAGE,
      response_format: 'b64_json',
    });
    expect(image.status).toBe(200);
    expect((await get('/v1/models', 'evil.example')).status).toBe(200);
    const video = { model: 'vendora-imagine-video', prompt: 'a boat', seconds: '1' };
    const created = await post('/v1/videos', 'evil.example', video);
    expect(created.status).toBe(200);
    const { id } = JSON.parse(created.body) as { id: string };
    await until('the video', async () => {
      const { status, body } = await get(`/v1/videos/${id}`, '127.0.0.1');
      return status === 200 && (JSON.parse(body) as { status: string }).status === 'completed';
    });
    expect((await get(`/v1/videos/${id}`, 'evil.example')).status).toBe(421);
  });

  it.each(LOOPBACK)('that names this machine (%s) is believed', async (host) => {
    const { status, body } = await post('/v1/images/generations', host, IMAGE);
    expect(status).toBe(200);
    const { data } = JSON.parse(body) as { data: { url: string }[] };
    expect(data[0]?.url.toLowerCase().startsWith(`http://${host.toLowerCase()}/v1/images/files/`)).toBe(true);
  });

  it('that appears twice is refused on both ports', async () => {
    const two = (path: string) => [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'hOST: evil.example'];
    for (const [base, path] of [
      [relay.baseUrl, '/v1/models'],
      [relay.baseUrl, '/docs'],
      [relay.consoleUrl, '/api/relay'],
      [relay.consoleUrl, '/'],
    ] as const) {
      const answer = await ask(base, two(path));
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'invalid_request' } });
    }
  });

  it('beside what nobody can expect is refused in words on both ports', async () => {
    for (const [base, path] of [
      [relay.baseUrl, '/v1/models'],
      [relay.consoleUrl, '/api/relay'],
    ] as const) {
      const answer = await ask(base, [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Expect: nonsense']);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({
        error: { message: expect.stringMatching(/^Expect: /) },
      });
    }
  });
});

it('every link uses a configured address, whatever the Host header says', async () => {
  const relay = await startRelay({ PUBLIC_BASE_URL: 'https://relay.example/base/' });
  try {
    const { apiKey } = await relay.customer('1');
    const head = [
      'POST /v1/images/generations HTTP/1.1',
      'Host: evil.example',
      `Authorization: Bearer ${apiKey}`,
    ];
    const answer = await ask(
      relay.baseUrl,
      [...head, 'Content-Type: application/json'],
      JSON.stringify(IMAGE),
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('https://relay.example/base/v1/images/files/');
    expect(answer.body).not.toContain('evil.example');
  } finally {
    await relay.close();
  }
});
