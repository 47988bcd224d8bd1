import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { networkOf } from '#identity/ip-list.js';
import { ApiError } from '#platform/errors.js';
import { type DefaultLimits, callerLimits, type RequestLimit } from './caller-limits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Keeps the request counted as in progress until what it answers is called; null where nobody counts. */
    keepCounted: (() => () => void) | null;
  }
}

/** Webhooks whose bodies may arrive at the same time, from one address and from all: anyone may begin to send one. */
const MOST_WEBHOOKS = { ofAddress: 8, ofAll: 64 };
/** Requests without a key that one network may have in progress, such as downloads by signed links. */
const MOST_WITHOUT_KEY = 100;
/** It is unknown when the next of its requests will end, and clients obey any number. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the requests that a key and an account have in progress: those that cost money together, and apart from them all
 * others of the account, so that polls are not refused for the work that they ask about. Counted by each gateway for
 * itself: over several of them a caller has as many times the limit. Requests without a caller are counted by their network: webhooks
 * of vendors, and downloads by signed links.
 */
export class ConcurrencyLimiter {
  private readonly inProgress = new Map<string, number>();

  constructor(private readonly defaults: DefaultLimits) {}

  /** Hooks itself into a server whose routes are not registered yet; the caller is known before. */
  install(server: FastifyInstance): void {
    server.decorateRequest('keepCounted', null);
    server.addHook('onRoute', (route) => {
      route.handler = counted(route.handler);
    });
    server.addHook('onRequest', (request, reply, done) => {
      this.admit(request, reply);
      done();
    });
  }

  private admit(request: FastifyRequest, reply: FastifyReply): void {
    const counted = this.limitsOf(request);
    if (counted.length === 0) return;
    const reached = counted.find(({ subject, most }) => (this.inProgress.get(subject) ?? 0) >= most);
    if (reached) throw tooMany(reached);
    const count = (by: number) => counted.forEach(({ subject }) => this.add(subject, by));
    let users = 0;
    // Its connection may have closed, and the request been counted out, before its handler begins.
    const keepCounted = () => {
      if (users === 0) count(1);
      users += 1;
      return () => {
        users -= 1;
        if (users === 0) count(-1);
      };
    };
    request.keepCounted = keepCounted;
    // A client may have left while its key was looked up: then nothing would count it out.
    if (!reply.raw.destroyed) reply.raw.once('close', keepCounted());
  }

  private limitsOf({ caller, ip, routeOptions: { config } }: FastifyRequest): RequestLimit[] {
    if (config.access === 'vendor')
      return [
        { subject: `webhooks from ${networkOf(ip)}`, most: MOST_WEBHOOKS.ofAddress },
        { subject: 'webhooks', most: MOST_WEBHOOKS.ofAll },
      ];
    if (!caller) return [{ subject: `keyless from ${networkOf(ip)}`, most: MOST_WITHOUT_KEY }];
    const limits = callerLimits(caller, 'concurrentRequests', this.defaults);
    return config.paid ? limits : limits.flatMap(asOther);
  }

  private add(subject: string, count: number): void {
    const sum = (this.inProgress.get(subject) ?? 0) + count;
    if (sum === 0) this.inProgress.delete(subject);
    else this.inProgress.set(subject, sum);
  }
}

/** Free requests count only for accounts. */
function asOther({ subject, most }: RequestLimit): RequestLimit[] {
  return subject.startsWith('key ') ? [] : [{ subject: `other ${subject}`, most }];
}

function tooMany({ subject, most }: RequestLimit): ApiError {
  if (subject.startsWith('webhooks'))
    return new ApiError(
      'rate_limit_exceeded',
      'Too many webhooks are arriving at once. Send it again later.',
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  if (subject.startsWith('keyless'))
    return new ApiError(
      'rate_limit_exceeded',
      `Your network has reached its limit of ${most} concurrent requests without a key. Wait until one has ended.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  const who = subject.startsWith('key ') ? 'This key' : 'Your account';
  const message = `${who} has reached its limit of ${most} concurrent requests. Nothing was charged; wait until one has ended.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** A handler continues after its client has left, so the request is in progress until both are done. */
function counted(handler: RouteOptions['handler']): RouteOptions['handler'] {
  return async function (request, reply) {
    const done = request.keepCounted?.();
    try {
      return await handler.call(this, request, reply);
    } finally {
      done?.();
    }
  };
}
