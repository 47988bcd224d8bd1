import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOn } from '../support/raw-answer.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { silentWav, soundForm } from '../support/sounds.js';

const EDITS = '/v1/images/edits';
const EDIT = { model: 'vendora-imagine-edit', prompt: 'at night' };
const CHATS = '/v1/chat/completions';
const SOUND = '/v1/audio/transcriptions';
const WEBHOOK = '/vendor-webhooks/fal';
const MEGABYTE = 1024 * 1024;
/**
 * Such bodies once blocked everyone for 28 seconds. The relay, its clients and their bodies share one thread here, so its
 * work between two answers is compared with that of counting the zeros in this many bytes.
 */
const READ = Buffer.alloc(32 * MEGABYTE);
const MOST_TIMES_READ = 20;

interface Refused {
  status: number;
  code: string | undefined;
}

describe('a hostile body', () => {
  let relay: Relay;
  let honest: Customer;
  let hostile: Customer;
  /** Gives slow uploads up soon; the other relay never does. */
  let hasty: Relay;

  beforeAll(async () => {
    const limits = { BODY_MEMORY_MEGABYTES: '64', UPLOADS_PER_ACCOUNT: '4' };
    relay = await startRelay({ ...limits, UPLOAD_GRACE_SECONDS: '600' });
    hasty = await startRelay({ ...limits, UPLOAD_GRACE_SECONDS: '1' });
    [honest, hostile] = [await relay.customer('1'), await relay.customer('0')];
  });
  afterAll(() => closeClean(relay).finally(() => closeClean(hasty)));

  async function refusalOf(path: string, init: RequestInit): Promise<Refused> {
    const response = await hostile.send(path, init);
    const { error, code } = (await response.json()) as { error?: { code: string }; code?: string };
    return { status: response.status, code: code ?? error?.code };
  }

  /** The most that this thread does between two lists of models while something else runs, in times of reading. */
  async function longestWork(work: Promise<unknown>): Promise<number> {
    let isOver = false;
    const done = work.finally(() => (isOver = true));
    let longest = 0;
    while (!isOver) {
      const before = process.threadCpuUsage();
      expect((await honest.send('/v1/models')).status).toBe(200);
      longest = Math.max(longest, workSince(before));
    }
    await done;
    return longest / timeOfReading();
  }

  function workSince(before: NodeJS.CpuUsage): number {
    const { user, system } = process.threadCpuUsage(before);
    return user + system;
  }

  function timeOfReading(): number {
    const before = process.threadCpuUsage();
    let zeros = 0;
    for (const byte of READ) zeros += byte === 0 ? 1 : 0;
    expect(zeros).toBe(READ.length);
    return workSince(before);
  }

  const nested = (levels: number) => `{"model":"m","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  it.each([
    EDITS,
    CHATS,
    '/v1/images/generations',
    '/v1/videos',
    '/v1/3d',
    '/v1beta/models/imgmodel-4:predict',
  ])('is refused for its depth on %s', async (path) => {
    expect(await refusalOf(path, json(nested(120)))).toEqual({ status: 400, code: 'invalid_json' });
  });

  it.each([EDITS, CHATS, '/v1/videos', '/v1/3d'])('is refused for too many elements on %s', async (path) => {
    const body = `{"model":"m","x":[${'{},'.repeat(200_000)}0]}`;
    expect(await refusalOf(path, json(body))).toEqual({ status: 413, code: 'request_too_large' });
  });

  it('delays nobody, however large: nested, flat, or full of texts', async () => {
    const bodies = [
      nested(32 * MEGABYTE),
      `{"model":"m","x":[${'{},'.repeat(16 * MEGABYTE)}0]}`,
      `{"model":"m","x":"${'A'.repeat(24 * MEGABYTE)}"}`,
    ].map((text) => ({ ...json(''), body: Buffer.from(text) }));
    const work = await longestWork(Promise.all(bodies.map((init) => refusalOf(EDITS, init))));
    expect(work).toBeLessThan(MOST_TIMES_READ);
  });

  it('with many chats takes no more memory than its account’s share', async () => {
    const chat = { model: 'vendora-chat', messages: [{ role: 'user', content: 'x'.repeat(19 * MEGABYTE) }] };
    const body = JSON.stringify(chat);
    const sent = Array.from({ length: 12 }, () => refusalOf(CHATS, json(body)));
    const answers = await Promise.all(sent);
    expect(answers.length).toBe(12);
    // On a busy machine, the hold may be too late: 503.
    for (const { status } of answers) expect([400, 403, 429, 503]).toContain(status);
    expect(answers.map(({ status }) => status)).toContain(429);
  });

  it('from an account that fills its share leaves a share to others', async () => {
    const sockets = await Promise.all([1, 2, 3].map(() => upload(hostile, 20 * MEGABYTE, 15 * MEGABYTE)));
    const chat = JSON.stringify({ ...CHAT, messages: [{ role: 'user', content: 'x'.repeat(4 * MEGABYTE) }] });
    const response = await honest.send(CHATS, json(chat));
    // Refused as too long for the model, or answered: either way, it was read.
    expect([200, 400, 403]).toContain(response.status);
    await response.text();
    for (const socket of sockets) socket.destroy();
    await until('the memory to be free', async () => (await inMemory()) === 0);
  });

  it('that was only announced takes nothing from others', async () => {
    const sockets = await Promise.all([1, 2, 3, 4].map(() => upload(hostile, 40 * MEGABYTE, 1)));
    await until('all to have begun', async () => (await openUploads()) === 4);
    expect(await inMemory()).toBe(0);
    expect(await refusalOf(EDITS, json({ ...EDIT, image: 'A'.repeat(MEGABYTE) }))).toEqual({
      status: 429,
      code: 'rate_limit_exceeded',
    });
    const picture = { ...EDIT, image: 'A'.repeat(MEGABYTE) };
    const other = await honest.send(EDITS, json(picture));
    expect(((await other.json()) as { error: { code: string } }).error.code).toBe('invalid_image');
    for (const socket of sockets) socket.destroy();
    await until('no upload to be open', async () => (await openUploads()) === 0);
  });

  it('that was only announced is given up', async () => {
    const slow = await hasty.customer('0');
    const announced = `Content-Length: ${40 * MEGABYTE}`;
    const sockets = await Promise.all([1, 2, 3, 4].map(() => open(slow, announced, { at: hasty })));
    for (const answer of await Promise.all(sockets.map(answerOn))) {
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(answer).toContain('"code":"upload_too_slow"');
    }
  });

  it('with audio that stops halfway is given up, and leaves no memory behind', async () => {
    const gone = await halfSound();
    await until('what came to be in memory', async () => (await inMemory()) > 0);
    gone.destroy();
    const slow = await hasty.customer('0');
    expect(await answerOn(await halfSound(slow, hasty))).toMatch(/^HTTP\/1.1 408 /);
    for (const at of [relay, hasty]) {
      await until('the memory to be free', async () => (await inMemory(at)) === 0);
      await until('no upload to be open', async () => (await openUploads(at)) === 0);
    }
    expect(await slow.balance()).toEqual({ main: '0', held: '0' });
  });

  it('with audio counts for its account, and does not block other accounts', async () => {
    const sockets = await Promise.all([1, 2, 3, 4].map(() => halfSound()));
    await until('all to have begun', async () => (await openUploads()) === 4);
    const body = () => soundForm(silentWav(30), { model: 'none' });
    expect(await refusalOf(SOUND, { method: 'POST', body: body() })).toEqual({
      status: 429,
      code: 'rate_limit_exceeded',
    });
    expect((await honest.send(SOUND, { method: 'POST', body: body() })).status).toBe(404);
    for (const socket of sockets) socket.destroy();
    await until('the memory to be free', async () => (await inMemory()) === 0);
  });

  it('in tiny pieces is refused', async () => {
    const socket = await open(hostile, 'Transfer-Encoding: chunked', { path: CHATS });
    const answer = answerOn(socket);
    socket.write('1\r\n \r\n'.repeat(200_000));
    expect(await answer).toMatch(/^HTTP\/1.1 400 /);
  });

  it.each([
    ['without a key', CHATS, 401],
    ['to a path that does not exist', '/no/such/path', 404],
  ])('%s is not read', async (_, path, status) => {
    const socket = await begun(path);
    expect(await answerOn(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await inMemory()).toBe(0);
  });

  it('of a webhook is counted, since anyone may start to send one', async () => {
    const sockets = await Promise.all(Array.from({ length: 8 }, () => begun(WEBHOOK)));
    await until('all to have begun', async () => (await openUploads()) === 8);
    expect(await answerOn(await begun(WEBHOOK))).toMatch(/^HTTP\/1.1 429 /);
    for (const socket of sockets) socket.destroy();
    await until('no upload to be open', async () => (await openUploads()) === 0);
  });

  it('in a form is not parsed just because it claims to be JSON, and its number of fields is limited', async () => {
    const boundary = 'xyz';
    const part = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: application/json\r\n\r\n${value}\r\n`;
    const form = (...parts: string[]): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: `${parts.join('')}--${boundary}--\r\n`,
    });
    const deep = part('image', '['.repeat(20 * MEGABYTE));
    const work = await longestWork(
      refusalOf(EDITS, form(part('model', EDIT.model), part('prompt', 'x'), deep)).then((answer) =>
        expect(answer).toEqual({ status: 400, code: 'invalid_image' }),
      ),
    );
    expect(work).toBeLessThan(MOST_TIMES_READ);
    const many = Array.from({ length: 60 }, (_, index) => part(`field${index}`, '1'));
    expect(await refusalOf(EDITS, form(...many))).toEqual({ status: 413, code: 'request_too_large' });
  });

  const CHAT = { model: 'vendora-chat', messages: [] as unknown[] };

  async function inMemory(at = relay): Promise<number> {
    const metric = await at.registry.getSingleMetric('gateway_body_memory_bytes')?.get();
    return metric?.values[0]?.value ?? NaN;
  }

  function connected(at = relay): Promise<Socket> {
    const socket = connect(Number(new URL(at.baseUrl).port), '127.0.0.1');
    socket.on('error', () => undefined);
    return new Promise((resolve) => socket.once('connect', () => resolve(socket)));
  }

  /** Announces a body without a key, and sends its beginning. */
  async function begun(path: string): Promise<Socket> {
    const socket = await connected();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
    socket.write(`Content-Length: ${60 * 1024}\r\n\r\n{"a":`);
    return socket;
  }

  async function open(
    customer: Customer,
    length: string,
    { path = EDITS, at = relay } = {},
  ): Promise<Socket> {
    const socket = await connected(at);
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${customer.apiKey}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\n${length}\r\n\r\n`);
    return socket;
  }

  /** The beginning of a form with a file of 20 MB, which is enough to be counted. */
  async function halfSound(by = hostile, at = relay): Promise<Socket> {
    const socket = await connected(at);
    const lines = [
      `POST ${SOUND} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${by.apiKey}`,
      'Content-Type: multipart/form-data; boundary=xyz',
      `Content-Length: ${20 * MEGABYTE}`,
      '',
      '--xyz',
      'Content-Disposition: form-data; name="file"; filename="a.wav"',
      '',
      '',
    ];
    socket.write(lines.join('\r\n'));
    socket.write(Buffer.alloc(MEGABYTE / 3));
    return socket;
  }

  /** Announces a body with one length, sends its beginning, and no more. */
  async function upload(customer: Customer, announced: number, sent: number): Promise<Socket> {
    const before = await openUploads();
    const socket = await open(customer, `Content-Length: ${announced}`);
    const text = `{"model":"${EDIT.model}","image":"`.padEnd(sent, 'A').slice(0, sent);
    await new Promise((resolve) => socket.write(text, resolve));
    await until('the upload to have begun', async () => (await openUploads()) > before || socket.destroyed);
    return socket;
  }

  async function openUploads(at = relay): Promise<number> {
    const metric = await at.registry.getSingleMetric('gateway_open_uploads')?.get();
    return metric?.values[0]?.value ?? NaN;
  }
});
