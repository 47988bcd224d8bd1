import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/support/eventually.js';
import { Upstreams } from './adapters.js';
import type { StreamAnswer, StreamOutcome, StreamRequest } from './outcomes.js';
import { channelTo, json, startStub, type StubHandler, type StubUpstream } from './upstream.fixture.js';

let upstreams: Upstreams;
let stub: StubUpstream;

beforeEach(() => {
  upstreams = new Upstreams();
});
afterEach(async () => {
  await upstreams.close();
  await stub.close();
});

const request: StreamRequest = { kind: 'chat', model: 'theirs', body: { model: 'ours', stream: true } };

async function open(
  handler: StubHandler,
  options: { signal?: AbortSignal; requestTimeoutMs?: number } = {},
): Promise<StreamOutcome> {
  stub = await startStub(handler);
  const { signal = AbortSignal.timeout(60_000), requestTimeoutMs = 60_000 } = options;
  const channel = channelTo(stub.url, { protocol: 'openai', requestTimeoutMs });
  return upstreams.adapterFor('openai').openStream(channel, request, signal);
}

function answered(outcome: StreamOutcome): StreamAnswer {
  if (outcome.kind !== 'answer') throw new Error(JSON.stringify(outcome));
  return outcome;
}

function events(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return response;
}

async function read(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Resolves when the upstream sees that nobody is listening any more. */
function leaving(): { handler: StubHandler; left: Promise<unknown> } {
  let left: (value: unknown) => void = () => undefined;
  return {
    handler: (_, response) => {
      response.once('close', left);
      events(response).write('data: 1\n\n');
    },
    left: new Promise((resolve) => (left = resolve)),
  };
}

describe('the answer to a pass-through call', () => {
  it('is passed on with its head, each piece as it arrives', async () => {
    let answering: ServerResponse | undefined;
    const { body, contentType, status } = answered(
      await open((_, response) => {
        answering = events(response);
        answering.write('data: 1\n\n');
      }),
    );
    expect([status, contentType]).toEqual([200, 'text/event-stream']);
    await once(body, 'readable');
    expect(String(body.read())).toBe('data: 1\n\n');
    answering?.write('data: 2\n\n');
    await once(body, 'readable');
    expect(String(body.read())).toBe('data: 2\n\n');
    answering?.end();
    body.resume();
    await once(body, 'end');
  });

  it('holds the upstream back while nobody reads', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    let sent = 0;
    let stalled: (value: unknown) => void = () => undefined;
    const stalls = new Promise((resolve) => (stalled = resolve));
    const { body } = answered(
      await open((_, response) => {
        const more = () => {
          while (sent < 64) {
            sent += 1;
            if (!response.write(megabyte)) {
              stalled(undefined);
              response.once('drain', more);
              return;
            }
          }
          response.end();
        };
        events(response);
        more();
      }),
    );
    await stalls;
    await once(body, 'readable');
    // Whatever fits into this machine's sockets has been sent by now. The rest waits for a reader.
    expect(sent).toBeLessThan(32);
    expect((await read(body)).length).toBe(64 * megabyte.length);
  });

  it('ends with an error if the upstream breaks off or falls silent', async () => {
    const broken = answered(
      await open((_, response) => {
        events(response).write('data: 1\n\n', () => response.destroy());
      }),
    );
    await expect(read(broken.body)).rejects.toThrow();
    // On a busy machine, the head too may take longer than this.
    const silent = await until('a head', async () => {
      await stub.close();
      const begin: StubHandler = (_, response) => void events(response).write('data: 1\n\n');
      const outcome = await open(begin, { requestTimeoutMs: 1_000 });
      return outcome.kind === 'answer' && outcome;
    });
    await expect(read(silent.body)).rejects.toThrow();
  });

  it('cancels the upstream when the signal aborts, before and after the head', async () => {
    const after = leaving();
    const gone = new AbortController();
    const { body } = answered(await open(after.handler, { signal: gone.signal }));
    gone.abort();
    await expect(read(body)).rejects.toThrow('no answer in time');
    await after.left;
    await stub.close();

    let before: Promise<unknown> | undefined;
    const early = new AbortController();
    const outcome = open(
      (_, response) => {
        before = once(response, 'close');
        early.abort();
      },
      { signal: early.signal },
    );
    expect(await outcome).toMatchObject({ kind: 'unknown', upstreamStatus: null });
    await before;
  });

  it('cancels the upstream when its reader leaves', async () => {
    const { handler, left } = leaving();
    answered(await open(handler)).body.destroy();
    await left;
  });

  it('is not waited for beyond the channel’s limit', async () => {
    expect(await open(() => undefined, { requestTimeoutMs: 1_000 })).toMatchObject({ kind: 'unknown' });
  });

  it('is not requested at all for a caller that has left', async () => {
    const outcome = await open((_, response) => response.end(), { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ kind: 'not_accepted' });
    expect(stub.requests).toEqual([]);
  });

  it('is classified if it is an error, however long', async () => {
    const error = { error: { message: 'Too long.', code: 'context_length_exceeded' } };
    expect(await open((_, response) => json(response, 400, error))).toEqual({
      kind: 'refused',
      status: 400,
      code: 'upstream_rejected',
      message: 'Too long.',
      upstreamStatus: 400,
    });
    await stub.close();
    const endless = await open((_, response) => json(response, 400, 'x'.repeat(2 * 1024 * 1024)));
    expect(endless).toMatchObject({ kind: 'unknown', upstreamStatus: 400 });
  });
});

describe('a pass-through call', () => {
  const sent = () => ({ ...stub.requests[0], body: JSON.parse(stub.requests[0]?.body ?? '') as object });
  const answer: StubHandler = (_, response) => json(response, 200, {});

  it('asks for usage and uncompressed bytes, and names the upstream’s model', async () => {
    answered(await open(answer)).body.destroy();
    expect(sent()).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer upstream-key', 'accept-encoding': 'identity' },
      body: { model: 'theirs', stream: true, stream_options: { include_usage: true } },
    });
  });

  it('never lets the vendor store its answer, whatever the client says', async () => {
    stub = await startStub(answer);
    const asked = { kind: 'responses' as const, model: 'theirs', body: { input: 'hi', store: true } };
    const signal = AbortSignal.timeout(60_000);
    const adapter = upstreams.adapterFor('openai');
    answered(await adapter.openStream(channelTo(stub.url), asked, signal)).body.destroy();
    expect(sent().body).toEqual({ model: 'theirs', input: 'hi', store: false });
  });

  it('passes Anthropic’s headers on, except betas that cost more; uses its own version if the client has none', async () => {
    stub = await startStub(answer);
    const channel = channelTo(stub.url, { protocol: 'anthropic' });
    const headers = {
      'anthropic-beta': 'context-1m-2025-08-07, effort-2025-11-24',
      cookie: 'secret',
      'x-api-key': 'of-the-client',
    };
    const message = { kind: 'messages' as const, model: 'theirs', body: {}, headers };
    const signal = AbortSignal.timeout(60_000);
    answered(await upstreams.adapterFor('anthropic').openStream(channel, message, signal)).body.destroy();
    expect(sent().headers).toMatchObject({
      'x-api-key': 'upstream-key',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'effort-2025-11-24',
    });
    expect(sent().headers).not.toHaveProperty('cookie');
    expect(sent().headers).not.toHaveProperty('authorization');
  });
});
