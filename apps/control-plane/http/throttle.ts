import type { FastifyReply } from 'fastify';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';

const WINDOW_MS = 60_000;
/** The most subjects counted at the same time. Beyond that, those counted longest ago start again from 0. */
const MAX_SUBJECTS = 50_000;

interface Window {
  count: number;
  endsAtMs: number;
}

/**
 * Counts requests per minute, and refuses those beyond a limit. Each process counts for itself, without a query: the limits
 * keep one person from overloading the service, and need not be exact. What must be exact, such as attempts to sign in, is
 * counted in the database.
 */
export class Throttle {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  /** Counts one. @throws ApiError rate_limit_exceeded */
  count(subject: string, perMinute: number, reply: FastifyReply): void {
    const nowMs = this.clock.elapsedMs();
    const window = this.windowOf(subject, nowMs);
    window.count += 1;
    const seconds = Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
    void reply.headers({
      'x-ratelimit-limit-requests': String(perMinute),
      'x-ratelimit-remaining-requests': String(Math.max(0, perMinute - window.count)),
      'x-ratelimit-reset-requests': `${seconds}s`,
    });
    if (window.count <= perMinute) return;
    const message = `The limit of ${perMinute} requests per minute is reached. Wait ${seconds} seconds.`;
    throw new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: seconds });
  }

  private windowOf(subject: string, nowMs: number): Window {
    const known = this.windows.get(subject);
    if (known && nowMs < known.endsAtMs) return known;
    // Put at the end, so that the first of the map is the one that began longest ago.
    this.windows.delete(subject);
    const begun = { count: 0, endsAtMs: nowMs + WINDOW_MS };
    this.windows.set(subject, begun);
    if (this.windows.size > MAX_SUBJECTS) this.windows.delete(this.windows.keys().next().value as string);
    return begun;
  }
}
