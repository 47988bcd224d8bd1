import type { FastifyReply, FastifyRequest } from 'fastify';
import { Agent, type Dispatcher } from 'undici';
import { addAbortListener } from 'node:events';
import { type Readable, Transform } from 'node:stream';
import { type ConsoleGrant, signGrant } from '#identity/console-grant.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { FairShare } from '#platform/fair-share.js';
import type { Logger } from '#platform/logging.js';
import type { PlaygroundConfig } from '../console.config.js';

export interface GatewayClientParts {
  config: PlaygroundConfig;
  /** Where a gateway is, and where clients reach it: what its answers name. */
  gatewayUrl: () => string;
  baseUrl: () => string;
  clock: Clock;
  log: Logger;
}

/** A call on behalf of a signed-in person. */
export interface ForwardedCall {
  readonly method: 'GET' | 'POST';
  /** At the gateway, such as `/v1/videos`. */
  readonly path: string;
  readonly grant: ConsoleGrant;
  readonly body: Readable | null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Whose files are read, and for which answer. */
interface FileReads extends Pick<ConsoleGrant, 'accountId' | 'ip'>, Pick<ForwardedCall, 'reply'> {}

/** The gateway's answer to a GET of a path, by one of the account's keys. */
export type OpenFile = (path: string, keyId: string) => Promise<Dispatcher.ResponseData>;

interface Sent extends Pick<ForwardedCall, 'method' | 'path' | 'grant' | 'body'> {
  readonly headers: Record<string, string | string[]>;
}

const CONNECT_LIMIT_MS = 5_000;
/** A client of ours that is refused comes back soon. */
const RETRY_SECONDS = 2;
/** One in this many calls is reserved for accounts that have none in progress. */
const RESERVED_PART = 4;
/**
 * The headers that pass to the gateway, and those of its answer that pass to the browser. Neither include cookies or host
 * names.
 */
const SENT = ['content-length', 'accept', 'range', 'if-range', 'if-none-match', 'idempotency-key'];
const ANSWERED = [
  'content-type',
  'content-length',
  'content-range',
  'accept-ranges',
  'etag',
  'cache-control',
  'retry-after',
  'x-should-retry',
  'x-request-id',
  'openai-poll-after-ms',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
];

/**
 * Calls gateways for people at the console, whose pages may call no other origin. Bodies pass unchanged in both directions. The
 * gateway limits sizes and times, and its errors are passed on.
 */
export class GatewayClient {
  private readonly agent = new Agent({
    pipelining: 1,
    connect: { timeout: CONNECT_LIMIT_MS },
    // The gateway has limits of its own, which are the longest that an answer takes.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  private readonly places: FairShare;

  constructor(private readonly parts: GatewayClientParts) {
    const capacity = parts.config.concurrency;
    const reserve = Math.floor(capacity / RESERVED_PART);
    this.places = new FairShare({ clock: parts.clock, capacity, reserve, retryAfterSeconds: RETRY_SECONDS });
  }

  /** Answers what the gateway answers; the handler returns the body. @throws ApiError service_unavailable, rate_limit_exceeded */
  async forward(call: ForwardedCall): Promise<Readable> {
    const secret = this.secret();
    const leaving = this.enter(call);
    const { request } = call;
    const type = request.sentContentType;
    const headers = {
      ...passed(request.headers, SENT),
      ...(type === undefined ? {} : { 'content-type': type }),
    };
    const body = call.body && atMost(call.body, request.routeOptions.config.streamsBody ?? 0);
    const answer = await this.send({ ...call, body, headers }, secret, leaving);
    void call.reply.code(answer.statusCode).headers(passed(answer.headers, ANSWERED));
    // A client that leaves breaks the stream, which is no fault to report; the socket is gone by then.
    answer.body.on('error', () => undefined);
    return answer.body;
  }

  /** Reads files of an account for one answer, until its connection closes. @throws ApiError service_unavailable */
  filesFor({ accountId, ip, reply }: FileReads): OpenFile {
    const secret = this.secret();
    const leaving = leavingOf(reply);
    return (path, keyId) => {
      const grant = { audience: 'file', accountId, keyId, ip } as const;
      return this.send({ method: 'GET', path, grant, body: null, headers: {} }, secret, leaving);
    };
  }

  /** Ends calls in progress as if their connections had broken. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private secret(): string {
    const { grantSecret } = this.parts.config;
    if (grantSecret !== undefined) return grantSecret;
    throw new ApiError(
      'service_unavailable',
      'Calls from the console are not set up. The operator has to set CONSOLE_GRANT_SECRET for the control plane and the gateways.',
    );
  }

  /** Takes a place until the answer's connection closes, which aborts the signal. */
  private enter({ reply, grant }: ForwardedCall): AbortSignal {
    const place = this.places.tryTake(grant.accountId);
    if (!place.granted) {
      const who = place.reason === 'over_share' ? 'You have too many' : 'Too many';
      const message = `${who} calls from the console in progress; try again when one has ended.`;
      throw new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: place.retryAfterSeconds });
    }
    const leaving = leavingOf(reply);
    addAbortListener(leaving, () => place.release());
    return leaving;
  }

  private async send(
    { method, path, grant, body, headers }: Sent,
    secret: string,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { gatewayUrl, baseUrl, clock, log } = this.parts;
    try {
      const { origin, pathname } = new URL(gatewayUrl());
      const { host } = new URL(baseUrl());
      const authorization = `Bearer ${signGrant(secret, grant, clock.nowMs())}`;
      return await this.agent.request({
        origin,
        path: pathname.replace(/\/+$/, '') + path,
        method,
        signal,
        body,
        headers: { ...headers, host, authorization },
      });
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (!signal.aborted) log.warn({ err: error, path }, 'the console could not reach a gateway');
      const message = 'The gateway does not answer. Try again soon.';
      throw new ApiError('service_unavailable', message, { cause: error });
    }
  }
}

/** Aborts when the answer's connection closes. */
function leavingOf({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  // It may have closed while the session was read.
  if (raw.closed || raw.destroyed) leaving.abort();
  else raw.once('close', () => leaving.abort());
  return leaving.signal;
}

function passed(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string | string[]> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Cuts a body that does not say how long it is. */
function atMost(body: Readable, mostBytes: number): Transform {
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= mostBytes) return done(null, chunk);
      done(new ApiError('request_too_large', `The body has more than ${mostBytes} bytes.`));
    },
  });
  body.once('error', (error) => counter.destroy(error));
  // A gateway that answers before it has read everything still has its answer delivered: the rest is read and dropped,
  // where ending it would end the browser's connection.
  counter.once('close', () => {
    body.unpipe(counter);
    body.resume();
  });
  return body.pipe(counter);
}
