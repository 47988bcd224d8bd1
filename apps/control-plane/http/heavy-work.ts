import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from '#identity/role.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { FairShare } from '#platform/fair-share.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONTROL_PLANE_CLOCK, CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';

/** The load of a route on the database: little, a query over many rows, or a file of them. */
export type Load = 'light' | 'query' | 'file';

/** How long a request waits for its turn before it is refused. */
const WAIT_MS = 10_000;
/** A client that reads more slowly than this loses its place to others. */
const FILE_LIMIT_MS = 30 * 60_000;
/** One in this many places is reserved for accounts with nothing in progress. */
const RESERVED_PART = 4;

/**
 * Bounds what expensive routes do at the same time, in turn by account: one person with many windows, exports and reports leaves
 * places and database connections to everyone else. Files have separate places, because a slow reader keeps one for long. The pool
 * limits the time of each statement. Counted in the memory of each process.
 */
@Injectable()
export class HeavyWork {
  private readonly places: Record<Exclude<Load, 'light'>, FairShare>;

  constructor(
    @Inject(CONTROL_PLANE_CONFIG) { console: config }: ControlPlaneConfig,
    @Inject(CONTROL_PLANE_CLOCK) clock: Clock,
  ) {
    const shared = (capacity: number) =>
      new FairShare({ clock, capacity, reserve: Math.floor(capacity / RESERVED_PART) });
    this.places = { query: shared(config.heavy.queries), file: shared(config.heavy.files) };
  }

  /** Takes a place until the answer is sent or its connection closed. @throws ApiError rate_limit_exceeded */
  async enter(load: Load, { accountId }: Pick<Actor, 'accountId'>, reply: FastifyReply): Promise<void> {
    if (load === 'light') return;
    const { raw } = reply;
    const leaving = new AbortController();
    raw.once('close', () => leaving.abort());
    const place = await this.places[load].take(accountId, 1, { waitMs: WAIT_MS, signal: leaving.signal });
    if (!place.granted) {
      const what = load === 'file' ? 'files' : 'reports';
      const message = `Too many ${what} are being made at the moment; wait until one of yours is done, and try again.`;
      throw new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: place.retryAfterSeconds });
    }
    if (raw.closed || raw.destroyed) return place.release();
    const limit = setTimeout(() => raw.destroy(), FILE_LIMIT_MS).unref();
    raw.once('close', () => {
      clearTimeout(limit);
      place.release();
    });
  }
}
