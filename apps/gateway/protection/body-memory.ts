import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { FairShare } from '#platform/fair-share.js';
import type { ShareRefusal, Share } from '#platform/share.js';
import { Gauge, type Registry } from '#platform/metrics.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's share of the memory, on routes with large bodies. */
    memory: MemoryShare | null;
  }
}

/** This much of a request is not counted, so that a call without images never waits for those with images. */
const FREE_BYTES = 256 * 1024;
/** The part of the memory that is reserved for accounts that use little of it. */
const RESERVED_PART = 0.25;

/**
 * Limits the memory for the large bodies of all requests together: images as files or base64, and images fetched for them,
 * each kept until its upstream has answered. Only received bytes count, never announced ones. Accounts have fair shares:
 * one alone may use three quarters, and a quarter is reserved for newcomers. A request beyond the share of its account gets
 * a 429 before anything is held, and one that could never fit a 413.
 */
export class BodyMemory {
  private readonly pool: FairShare;

  /** The most that a single request may use. */
  private readonly mostBytes: number;

  constructor(capacity: number, { registry, clock }: { registry: Registry; clock: Clock }) {
    const pool = new FairShare({ clock, capacity, reserve: capacity * RESERVED_PART });
    this.pool = pool;
    this.mostBytes = capacity * (1 - RESERVED_PART);
    new Gauge({
      name: 'gateway_body_memory_bytes',
      help: 'Memory used by large request bodies and images fetched for them, in bytes',
      registers: [registry],
      collect() {
        this.set(pool.taken);
      },
    });
    new Gauge({
      name: 'gateway_body_memory_limit_bytes',
      help: 'Limit of the memory for large request bodies, in bytes',
      registers: [registry],
    }).set(capacity);
  }

  /** Hooks itself into a server whose routes are not registered yet; the caller is known before. */
  install(server: FastifyInstance): void {
    server.decorateRequest('memory', null);
    server.addHook('onRoute', (route) => {
      if (route.config?.bodyLimit !== undefined) route.handler = watched(route.handler);
    });
    server.addHook('onRequest', (request, reply, done) => {
      this.admit(request, reply);
      done();
    });
  }

  /** @throws ApiError request_too_large for what could not even fit alone */
  refuseImpossible(bytes: number): void {
    if (bytes <= this.mostBytes) return;
    const message = `The body has at most ${this.mostBytes} bytes here, fetched images included.`;
    throw new ApiError('request_too_large', message);
  }

  take(accountId: string, bytes: number): Share | ShareRefusal {
    return this.pool.tryTake(accountId, bytes);
  }

  private admit(request: FastifyRequest, reply: FastifyReply): void {
    const { bodyLimit } = request.routeOptions.config;
    if (bodyLimit === undefined || !request.caller) return;
    const share = new MemoryShare(this, request.caller.accountId);
    request.memory = share;
    reply.raw.once('close', share.use());
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced <= bodyLimit) this.refuseImpossible(announced);
  }
}

/** The part of one request, released when neither its connection nor its handler needs it any more. */
export class MemoryShare {
  private bytes = 0;
  private users = 0;
  private share: Share | null = null;

  constructor(
    private readonly memory: BodyMemory,
    private readonly accountId: string,
  ) {}

  /**
   * Counts bytes that came and are kept. What comes while nobody uses it takes nothing, since nobody would release it.
   * @throws ApiError rate_limit_exceeded, request_too_large
   */
  add(bytes: number): void {
    this.bytes += bytes;
    if (this.users > 0) this.cover();
  }

  /**
   * Keeps the memory until the returned function is called. A handler may begin after the connection has closed, which
   * released it. @throws ApiError rate_limit_exceeded if others have taken it since
   */
  use(): () => void {
    this.cover();
    this.users += 1;
    return () => {
      this.users -= 1;
      if (this.users > 0) return;
      this.share?.release();
      this.share = null;
    };
  }

  private cover(): void {
    const missing = this.bytes - (this.share?.amount ?? 0);
    if (this.bytes <= FREE_BYTES || missing === 0) return;
    this.memory.refuseImpossible(this.bytes);
    const answer = this.share ? this.share.more(missing) : this.memory.take(this.accountId, missing);
    if (answer === null) return;
    if (!answer.granted) throw tooMuch(answer);
    this.share = answer;
  }
}

function tooMuch({ reason, retryAfterSeconds }: ShareRefusal): ApiError {
  const message =
    reason === 'over_share'
      ? 'The large requests of this account use up its share of the memory. Nothing was charged; send fewer at once.'
      : 'Large requests of other accounts fill the memory at the moment. Nothing was charged; please retry.';
  return new ApiError('rate_limit_exceeded', message, { retryAfterSeconds });
}

/** A handler continues after its client has left, with everything that the client sent. */
function watched(handler: RouteOptions['handler']): RouteOptions['handler'] {
  return async function (request, reply) {
    const done = request.memory?.use();
    try {
      return await handler.call(this, request, reply);
    } finally {
      done?.();
    }
  };
}
