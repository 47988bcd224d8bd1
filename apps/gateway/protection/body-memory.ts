import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { Gauge, type Registry } from '#platform/metrics.js';
import { isMultipart } from '../http/multipart-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request has in memory, on routes with large bodies. */
    memory: MemoryShare | null;
  }
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Bounds what the large bodies of all requests weigh together: photos as files or base64, and pictures fetched for them,
 * each in memory until its upstream has answered. Counted as received; while a body is decoded and sent on it weighs
 * two or three times that. A request that does not fit is a 503 before anything is held, most often before a byte of it
 * is read. One request fits always, so that the limit may be below the largest body.
 */
export class BodyMemory {
  private taken = 0;

  constructor(
    private readonly limitBytes: number,
    registry: Registry,
  ) {
    const taken = () => this.taken;
    new Gauge({
      name: 'gateway_body_memory_bytes',
      help: 'Bytes of large request bodies, and of pictures fetched for them, in memory',
      registers: [registry],
      collect() {
        this.set(taken());
      },
    });
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
    server.addHook('preParsing', (request, _reply, payload, done) => {
      const { memory } = request;
      // Forms are counted by who reads them.
      if (memory && !isMultipart(request)) {
        payload.on('data', (chunk: Buffer) => memory.received(chunk.length));
      }
      done(null, payload);
    });
    server.addHook('preValidation', (request, _reply, done) => {
      request.memory?.check();
      done();
    });
  }

  /** Takes memory before it is filled. @throws ApiError 503 when it does not fit beside what others hold */
  take(bytes: number, own: number): void {
    this.refuseBeyond(this.taken + bytes, own + bytes);
    this.taken += bytes;
  }

  /** Takes memory that is filled already; `check` says later whether it fits. */
  count(bytes: number): void {
    this.taken += bytes;
  }

  /** @throws ApiError 503 when more is held than may be */
  check(own: number): void {
    this.refuseBeyond(this.taken, own);
  }

  giveBack(bytes: number): void {
    this.taken -= bytes;
  }

  private refuseBeyond(taken: number, own: number): void {
    if (taken <= this.limitBytes || taken === own) return;
    const message = 'Too many large requests are at work. Nothing was charged; please retry.';
    throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  private admit(request: FastifyRequest, reply: FastifyReply): void {
    const { bodyLimit, multipart } = request.routeOptions.config;
    if (bodyLimit === undefined || !request.caller) return;
    const share = new MemoryShare(this);
    request.memory = share;
    reply.raw.once('close', share.use());
    const announced = Number(request.headers['content-length'] ?? NaN);
    // The files of other forms pass by, and what is too long for its route is refused by its length.
    const isKept = !isMultipart(request) || multipart?.keptBytes !== undefined;
    if (isKept && announced <= bodyLimit) share.announced(announced);
  }
}

/** The part of one request, given back when neither its connection nor its handler needs it any more. */
export class MemoryShare {
  private bytes = 0;
  private users = 0;
  private isAnnounced = false;

  constructor(private readonly memory: BodyMemory) {}

  /** Takes memory for a body of this length, before any of it is read. @throws ApiError 503 */
  announced(bytes: number): void {
    this.add(bytes);
    this.isAnnounced = true;
  }

  /** Counts a part of a body whose length was not announced; `check` says later whether it fits. */
  received(bytes: number): void {
    if (this.isAnnounced) return;
    this.memory.count(bytes);
    this.bytes += bytes;
  }

  /** Takes memory beside the body. @throws ApiError 503 */
  add(bytes: number): void {
    this.memory.take(bytes, this.bytes);
    this.bytes += bytes;
  }

  /** @throws ApiError 503 */
  check(): void {
    this.memory.check(this.bytes);
  }

  /** Keeps the memory until the returned function is called. */
  use(): () => void {
    this.users += 1;
    return () => {
      this.users -= 1;
      if (this.users > 0) return;
      this.memory.giveBack(this.bytes);
      this.bytes = 0;
    };
  }
}

/** A handler works on when its client has left, with all that the client sent. */
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
