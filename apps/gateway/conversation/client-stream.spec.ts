import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Fastify, { type FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { until } from '../../../test/support/eventually.js';
import { recordResponse, type SentAnswer } from '../protection/recording.js';
import { ClientStream } from './client-stream.js';

/** The body has not been read yet. */
async function ask({ server }: FastifyInstance): Promise<IncomingMessage> {
  const { port } = server.address() as { port: number };
  const call = request({ port, host: '127.0.0.1', method: 'POST', path: '/', agent: false }).end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return response;
}

const PIECE = Buffer.alloc(64 * 1024, 'x');
const STALL_MS = 2_000;
/** Longer than a busy machine lets a slow client wait. */
const PATIENT_STALL_MS = 8_000;
/** More than the two sockets of a connection can hold together. */
const PIECES = 1_000;

describe('a streamed answer', () => {
  let server: FastifyInstance;
  let written: number;
  let ended: boolean;
  let answered: ClientStream;
  let isHurried: boolean;
  const stop = new AbortController();

  beforeEach(async () => {
    written = 0;
    ended = false;
    isHurried = false;
    server = Fastify();
    server.post('/', async (_request, reply) => {
      reply.header('x-request-id', 'r1');
      const client = (answered = new ClientStream(reply, STALL_MS));
      if (isHurried) client.breakIfStalled();
      for (; written < PIECES && !client.left.aborted; written += 1) {
        await client.write(PIECE, 'text/event-stream', stop.signal);
      }
      client.end(Buffer.from('end'));
      ended = true;
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => server.close());

  async function untilStalled(): Promise<void> {
    let before = -1;
    await until('the writes to stall', async () => {
      const isStalled = before === written;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return isStalled && before === written;
    });
  }

  it('waits for a client that does not read, and continues when it does', async () => {
    const response = await ask(server);
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'x-request-id': 'r1',
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    });
    await untilStalled();
    expect(written).toBeLessThan(PIECES);
    let bytes = 0;
    for await (const piece of response as AsyncIterable<Buffer>) bytes += piece.length;
    expect(bytes).toBe(PIECES * PIECE.length + 'end'.length);
    expect(answered.left.aborted).toBe(false);
  });

  it('stops waiting for a client that leaves', async () => {
    const response = await ask(server);
    await untilStalled();
    response.destroy();
    await until('the writing to end', async () => ended);
    expect(answered.left.aborted).toBe(true);
    expect(written).toBeLessThan(PIECES);
  });

  it('treats a stalled client as gone if it must not hold up the rest', async () => {
    isHurried = true;
    const response = await ask(server);
    await until('the writing to end', async () => ended);
    expect(answered.left.aborted).toBe(true);
    expect(written).toBeLessThan(PIECES);
    await expect(response.toArray()).rejects.toThrow('aborted');
  });

  it('stops waiting when it is stopped, and sends no more', async () => {
    const response = await ask(server);
    await untilStalled();
    stop.abort();
    await until('the writes to end', async () => written === PIECES);
    expect(answered.started).toBe(true);
    response.destroy();
  });
});

describe('the end of an answer', () => {
  /** More than the sockets take at once, so that most of it is left when the answer ends. */
  const LAST = Buffer.alloc(64 * 1024 * 1024, 'x');
  let server: FastifyInstance;
  let answered: ClientStream;
  let stallMs: number;

  beforeEach(async () => {
    stallMs = STALL_MS;
    server = Fastify();
    server.post('/', async (_request, reply) => {
      answered = new ClientStream(reply, stallMs);
      await answered.write(Buffer.from('begin'), 'text/event-stream', new AbortController().signal);
      answered.end(LAST);
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => server.close());

  it('reaches a slow client, however long it takes', async () => {
    stallMs = PATIENT_STALL_MS;
    const response = await ask(server);
    const startedAt = performance.now();
    let bytes = 0;
    let pauseAt = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes < pauseAt) continue;
      pauseAt = bytes + LAST.length / 32;
      // This client takes longer than a client may stall, but never stalls.
      await new Promise((resolve) => setTimeout(resolve, stallMs / 24));
    }
    expect(performance.now() - startedAt).toBeGreaterThan(stallMs);
    expect(bytes).toBe(LAST.length + 'begin'.length);
  });

  it('is broken off for a client that reads nothing', async () => {
    const response = await ask(server);
    await until('the answer to be broken off', async () => answered.left.aborted);
    await expect(response.toArray()).rejects.toThrow('aborted');
  });
});

describe('an answer whose client has left', () => {
  let server: FastifyInstance;
  let answers: (SentAnswer | null)[];
  /** The pieces that are written before the client leaves, and after it. */
  let [before, after]: string[][] = [];

  beforeEach(async () => {
    answers = [];
    server = Fastify();
    server.post('/', async (_request, reply) => {
      const onEnd = (answer: SentAnswer | null) => answers.push(answer);
      recordResponse(reply.raw, { maxBytes: 100, isWanted: () => answers.length === 0, onEnd });
      const client = new ClientStream(reply);
      client.addHeaders({ 'x-served-model': 'a-model' });
      const write = (text: string) =>
        client.write(Buffer.from(text), 'text/event-stream', new AbortController().signal);
      for (const text of before ?? []) await write(text);
      if (!client.left.aborted) await once(client.left, 'abort');
      for (const text of after ?? []) await write(text);
      client.end(Buffer.from('last'));
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => server.close());

  async function leave(): Promise<void> {
    const { port } = server.server.address() as { port: number };
    const call = request({ port, host: '127.0.0.1', method: 'POST', path: '/', agent: false }).end();
    call.on('error', () => undefined);
    if (before?.length) await once(call, 'response');
    else await once(server.server, 'request');
    call.destroy();
    await until('the answer to end', async () => answers.length > 0);
  }

  it.each([
    { sent: ['first '], missed: ['second '], whole: 'first second last' },
    { sent: [], missed: ['first ', 'second '], whole: 'first second last' },
    { sent: ['first '], missed: [], whole: 'first last' },
  ])('is recorded whole: $sent sent, $missed missed', async ({ sent, missed, whole }) => {
    [before, after] = [sent, missed];
    await leave();
    const headers = { 'x-served-model': 'a-model' };
    expect(answers).toEqual([
      { status: 200, contentType: 'text/event-stream', headers, body: Buffer.from(whole) },
    ]);
  });
});
