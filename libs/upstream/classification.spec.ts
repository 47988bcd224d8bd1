import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstreams } from './adapters.js';
import { channelTo, json, startStub, type StubHandler, type StubUpstream } from './upstream.fixture.js';

const IMAGES = { model: 'm', prompt: 'p', n: 1, responseFormat: 'url' as const };
const VIDEO = { model: 'm', prompt: 'p', seconds: 5 };

let upstreams: Upstreams;
let stub: StubUpstream | undefined;
let server: Server | undefined;
const sockets = new Set<Socket>();

beforeEach(() => {
  upstreams = new Upstreams();
});

afterEach(async () => {
  await upstreams.close();
  await stub?.close();
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  stub = server = undefined;
});

/** Both kinds of create, since each row must apply to both. */
async function createBoth(
  baseUrl: string,
  options: { limit?: () => AbortSignal; requestTimeoutMs?: number } = {},
) {
  const channel = channelTo(baseUrl, { requestTimeoutMs: options.requestTimeoutMs ?? 60_000 });
  const adapter = upstreams.adapterFor('openai-xai');
  const { limit = () => AbortSignal.timeout(60_000) } = options;
  const image = await adapter.generateImages(channel, IMAGES, limit());
  const video = await adapter.createVideo(channel, VIDEO, { idempotencyKey: 'key', signal: limit() });
  return { image, video };
}

async function rawServer(onConnection: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('accepted or not: connection errors', () => {
  const notAccepted = { kind: 'not_accepted', upstreamStatus: null };
  const unknown = { kind: 'unknown' };

  it('knows that a refused connection accepted nothing', async () => {
    const url = await rawServer(() => undefined);
    await new Promise<void>((resolve) => server?.close(() => resolve()));
    server = undefined;
    expect(await createBoth(url)).toMatchObject({ image: notAccepted, video: notAccepted });
  });

  it('knows that a name without an address accepted nothing', async () => {
    expect(await createBoth('http://nowhere.invalid')).toMatchObject({
      image: notAccepted,
      video: notAccepted,
    });
  });

  it('knows that a failed TLS handshake accepted nothing', async () => {
    const url = await rawServer((socket) => socket.end('this is not TLS'));
    const both = await createBoth(url.replace('http:', 'https:'));
    expect(both).toMatchObject({ image: notAccepted, video: notAccepted });
  });

  it('knows that what was given up before it was sent was not accepted', async () => {
    stub = await startStub((_, response) => json(response, 200, { id: 'x' }));
    const adapter = upstreams.adapterFor('openai-xai');
    const options = { idempotencyKey: 'key', signal: AbortSignal.abort() };
    expect(await adapter.createVideo(channelTo(stub.url), VIDEO, options)).toMatchObject(notAccepted);
    expect(stub.requests).toEqual([]);
  });

  it('cannot say after a reset without an answer', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await createBoth(url)).toMatchObject({ image: unknown, video: unknown });
  });

  it('cannot say if the connection closes as soon as it is open', async () => {
    const url = await rawServer((socket) => socket.destroy());
    expect(await createBoth(url)).toMatchObject({ image: unknown, video: unknown });
  });

  it('cannot say after a reset in the middle of the answer, and keeps the status', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"id":';
    const url = await rawServer((socket) =>
      socket.once('data', () => socket.write(head, () => socket.destroy())),
    );
    const broken = { kind: 'unknown', upstreamStatus: 200 };
    expect(await createBoth(url)).toMatchObject({ image: broken, video: broken });
  });

  it('cannot say if the request’s time limit ends first', async () => {
    let over = new AbortController();
    // The request has arrived by then, however slow the machine is.
    const url = await rawServer((socket) => socket.once('data', () => over.abort()).resume());
    const limit = () => (over = new AbortController()).signal;
    expect(await createBoth(url, { limit })).toMatchObject({ image: unknown, video: unknown });
  });

  it('cannot say if the upstream is silent for the channel’s limit', async () => {
    const url = await rawServer((socket) => socket.resume());
    expect(await createBoth(url, { requestTimeoutMs: 1_000 })).toMatchObject({
      image: unknown,
      video: unknown,
    });
  });

  it('cannot say from bytes that are not HTTP', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.end('hello\r\n\r\n')));
    expect(await createBoth(url)).toMatchObject({ image: unknown, video: unknown });
  });
});

describe('accepted or not: statuses', () => {
  const vendorError = (code: string) => ({
    error: { message: `About ${code}.`, type: 'x', param: null, code },
  });
  const refused = (status: number, code: string) => ({ kind: 'refused', status, code });
  const notAccepted = { kind: 'not_accepted' };
  const unknown = { kind: 'unknown' };

  const rows: [status: number, body: unknown, outcome: object][] = [
    [301, '', notAccepted],
    [303, '', unknown],
    [307, '', notAccepted],
    [400, vendorError('invalid_value'), refused(400, 'upstream_rejected')],
    [400, '<html>', refused(400, 'upstream_rejected')],
    [400, vendorError('content_policy_violation'), refused(400, 'content_policy_violation')],
    [400, vendorError('moderation_blocked'), refused(400, 'content_policy_violation')],
    [400, { code: 'invalid-argument', error: 'Incorrect API key provided: up***ey.' }, notAccepted],
    [401, vendorError('invalid_api_key'), notAccepted],
    [402, vendorError('billing_hard_limit_reached'), notAccepted],
    [403, vendorError('permission_denied'), notAccepted],
    [
      403,
      { code: 'permission-denied', error: 'Content violates usage guidelines.' },
      refused(400, 'content_policy_violation'),
    ],
    [400, vendorError('InputTextSensitiveContentDetected'), refused(400, 'content_policy_violation')],
    [403, { error: { message: 'Your account was flagged as suspicious.' } }, notAccepted],
    [404, vendorError('model_not_found'), notAccepted],
    [409, vendorError('idempotency_conflict'), unknown],
    [413, vendorError('request_too_large'), notAccepted],
    [415, vendorError('unsupported_media_type'), refused(415, 'unsupported_media_type')],
    [422, vendorError('unprocessable'), refused(422, 'upstream_rejected')],
    [429, vendorError('rate_limit_exceeded'), notAccepted],
    [500, vendorError('server_error'), notAccepted],
    [502, vendorError('bad_gateway'), notAccepted],
    [503, vendorError('overloaded'), notAccepted],
    [504, vendorError('timeout'), unknown],
    [504, '', unknown],
    [520, '', unknown],
    [521, '<html>web server is down</html>', notAccepted],
    [524, '', unknown],
    [525, '', notAccepted],
    [529, vendorError('overloaded'), unknown],
  ];

  /** With these, a call is over, but a task may be running behind whatever answered. */
  const lost: [status: number, body: unknown][] = [
    [500, ''],
    [500, '<html>internal server error</html>'],
    [500, { ...vendorError('server_error'), id: 'task-7' }],
    [500, { ...vendorError('server_error'), request_id: 'task-7' }],
    [502, '<html>bad gateway</html>'],
    [503, '<html>service unavailable</html>'],
    [503, 'upstream connect error or disconnect/reset before headers'],
    [503, { status: 'queued', id: 'task-7' }],
  ];

  it.each(lost)('%i %j ends a call, and says nothing about a task', async (status, body) => {
    stub = await startStub((_, response) => json(response, status, body));
    expect(await createBoth(stub.url)).toMatchObject({
      image: { ...notAccepted, upstreamStatus: status },
      video: { ...unknown, upstreamStatus: status },
    });
  });

  it.each(rows)('%i %j', async (status, body, outcome) => {
    stub = await startStub((_, response) => json(response, status, body));
    const expected = { ...outcome, upstreamStatus: status };
    expect(await createBoth(stub.url)).toMatchObject({ image: expected, video: expected });
    expect(stub.requests).toHaveLength(2);
  });

  const broken: [name: string, body: unknown][] = [
    ['not JSON', '{"id":'],
    ['empty', ''],
    ['an array', '[]'],
    ['without id or images', { object: 'video' }],
    ['with an id that is not a text', { id: 7, data: 'x' }],
    ['with no images', { id: '', data: [] }],
    ['with images that are none', { id: 'x'.repeat(201), data: [{ b64_json: 5 }, null] }],
  ];

  it.each(broken)('cannot say from a success whose body is %s', async (_, body) => {
    stub = await startStub((request, response) => json(response, 200, body));
    const expected = { kind: 'unknown', upstreamStatus: 200 };
    expect(await createBoth(stub.url)).toMatchObject({ image: expected, video: expected });
  });

  it('gives up on an answer that is too large', async () => {
    const endless: StubHandler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const megabyte = Buffer.alloc(1024 * 1024, ' ');
      const more = () => {
        while (!response.destroyed && response.write(megabyte));
        response.once('drain', more);
      };
      more();
    };
    stub = await startStub(endless);
    const adapter = upstreams.adapterFor('openai-xai');
    const poll = await adapter.pollTask(channelTo(stub.url), 'x', AbortSignal.timeout(60_000));
    expect(poll).toMatchObject({ kind: 'no_answer', reason: expect.stringContaining('bytes') });
    const options = { idempotencyKey: 'key', signal: AbortSignal.timeout(60_000) };
    const create = await adapter.createVideo(channelTo(stub.url), VIDEO, options);
    expect(create).toMatchObject({ kind: 'unknown', upstreamStatus: 200 });
  });
});
