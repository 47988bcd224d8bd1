import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { answerOn } from '../support/raw-answer.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';

const MEGABYTE = 1024 * 1024;

describe('a hostile body at the console', () => {
  let relay: Relay;
  let somebody: Person;

  beforeAll(async () => {
    relay = await startRelay({ UPLOADS_PER_ACCOUNT: '3', UPLOAD_GRACE_SECONDS: '600' });
    somebody = await person(relay);
  });
  afterAll(() => relay.close());

  async function refusalOf(path: string, init: RequestInit): Promise<{ status: number; code?: string }> {
    const response = await somebody.send(path, init);
    const { error } = (await response.json()) as { error?: { code: string } };
    return { status: response.status, ...(error && { code: error.code }) };
  }

  it('is refused for its depth, its elements or its length before it is parsed', async () => {
    const deep = `{"x":${'['.repeat(200)}${']'.repeat(200)}}`;
    expect(await refusalOf('/api/tickets', json(deep))).toEqual({ status: 400, code: 'invalid_json' });
    const many = `{"x":[${'[],'.repeat(200_000)}0]}`;
    expect(await refusalOf('/api/tickets', json(many))).toEqual({ status: 413, code: 'request_too_large' });
    const long = JSON.stringify({ x: 'x'.repeat(MEGABYTE) });
    expect(await refusalOf('/api/tickets', json(long))).toEqual({ status: 413, code: 'request_too_large' });
    const event = await fetch(`${relay.consoleUrl}/api/payments/events/sandbox`, json(deep));
    expect(event.status).toBe(400);
  });

  it('is accepted as a file only on paths for files', async () => {
    const csv = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'a,b\n1,2\n' };
    expect(await refusalOf('/api/tickets', csv)).toEqual({ status: 415, code: 'unsupported_media_type' });
  });

  it('is refused if it is compressed, because nothing unpacks it', async () => {
    const gzip = json({}, { 'content-encoding': 'gzip' });
    expect(await refusalOf('/api/tickets', gzip)).toEqual({ status: 415, code: 'unsupported_media_type' });
  });

  it('is not waited for if its sender has no session', async () => {
    const socket = await open(`POST /api/tickets HTTP/1.1\r\nHost: localhost`, MEGABYTE);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 401 /);
  });

  const headOf = ({ headers }: Person) =>
    `POST /api/tickets HTTP/1.1\r\nHost: localhost\r\nCookie: ${headers.cookie}`;

  it('is one of only so many that may be in progress', async () => {
    const sockets: Socket[] = [];
    for (let count = 1; count <= 3; count += 1) {
      sockets.push(await open(headOf(somebody), MEGABYTE));
      await until('the upload', async () => (await openUploads()) >= count);
    }
    expect(await answerOn(await open(headOf(somebody), MEGABYTE))).toMatch(/^HTTP\/1.1 429 /);
    for (const socket of sockets) socket.destroy();
    await until('no upload to be open', async () => (await openUploads()) === 0);
  });

  it('is given up if it does not arrive', async () => {
    const hasty = await startRelay({ UPLOAD_GRACE_SECONDS: '1' });
    try {
      const socket = await open(headOf(await person(hasty)), MEGABYTE, hasty);
      expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 408 /);
    } finally {
      await hasty.close();
    }
  });

  async function openUploads(): Promise<number> {
    const metric = await relay.registry.getSingleMetric('control_plane_open_uploads')?.get();
    return metric?.values[0]?.value ?? NaN;
  }

  async function open(head: string, announced: number, { consoleUrl } = relay): Promise<Socket> {
    const socket = connect(Number(new URL(consoleUrl).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${announced}\r\n\r\n{`);
    return socket;
  }
});
