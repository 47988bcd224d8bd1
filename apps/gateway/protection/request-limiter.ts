import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { Caller } from '#identity/key-authenticator.js';
import { type DefaultLimits, callerLimits, type PerMinute, type RequestLimit } from './caller-limits.js';

/** What a limit still allows, as far as this gateway knows. */
export interface Allowance {
  readonly perMinute: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** The work of a request, as far as it is limited per minute. */
export interface MinuteWork {
  readonly tokens?: bigint;
  readonly images?: bigint;
}

const LIMIT_OF: Record<keyof MinuteWork, PerMinute> = {
  tokens: 'tokensPerMinute',
  images: 'imagesPerMinute',
};

/** The share of a minute that this gateway has taken for a subject. */
interface Share {
  endsAtMs: number;
  /** Taken but not used yet. */
  left: number;
  /** Not taken by anyone at this gateway's last check. */
  untaken: number;
  taking: Promise<void> | undefined;
}

/**
 * A minute's limit is taken in twenty parts, so that nineteen of twenty requests need no query; small limits are taken one
 * by one.
 */
const PARTS_OF_A_MINUTE = 20;
/** Clients obey any number, even an hour. The actual time is in x-ratelimit-reset-requests. */
const LONGEST_RETRY_SECONDS = 5;
const PURGE_INTERVAL_MS = 60_000;
const MAX_PURGED = 5_000;
const MAX_SHARES = 50_000;

// The minute of the database, so that gateways with different clocks share it. Returns no row if nothing is left.
const TAKE = {
  name: 'request_allowance_take',
  text: `WITH clock AS (SELECT extract(epoch FROM clock_timestamp()) AS seconds),
    taken AS (
      INSERT INTO request_allowances AS a (subject, minute, taken)
      SELECT $1, floor(seconds / 60)::bigint, $2::integer FROM clock
      ON CONFLICT (subject, minute) DO UPDATE SET taken = a.taken + $2 WHERE a.taken < $3
      RETURNING a.taken)
    SELECT (60000 - mod(seconds * 1000, 60000))::double precision AS left_ms, (SELECT taken FROM taken) AS taken
    FROM clock`,
};
const PURGE = {
  name: 'request_allowance_purge',
  text: `DELETE FROM request_allowances WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM request_allowances WHERE minute < floor(extract(epoch FROM now()) / 60) - 1
    LIMIT ${MAX_PURGED} FOR UPDATE SKIP LOCKED))`,
};

/**
 * Requests, tokens and images per minute of keys and accounts, shared by all gateways: each takes parts of the minute's allowance from the
 * database and spends them by itself, so no more than the limit passes, and most requests wait for nothing. What a
 * gateway has taken and does not use is lost to the others until the minute ends: at most a twentieth of the limit.
 */
export class RequestLimiter {
  private readonly shares = new Map<string, Share>();
  private readonly purge: Loop;

  constructor(private readonly parts: { pool: Pool; clock: Clock; log: Logger; defaults: DefaultLimits }) {
    this.purge = new Loop({
      name: 'request allowances of past minutes',
      intervalMs: PURGE_INTERVAL_MS,
      log: parts.log,
      round: () => this.purgePast(),
    });
  }

  start(): void {
    this.purge.start();
  }

  async stop(): Promise<void> {
    await this.purge.stop();
  }

  /** Counts a request that is paid or asks for much; for Fastify's onRequest, once the caller is known. */
  readonly hook = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { caller } = request;
    const { paid, counted } = request.routeOptions.config;
    if (!caller || caller.uncounted || !(paid || counted)) return;
    const allowance = await this.take(callerLimits(caller, 'requestsPerMinute', this.parts.defaults));
    void reply.headers(headersOf(allowance.tightest));
    if (allowance.passes) return;
    throw reached(allowance.tightest, 'requests');
  };

  /**
   * Counts the work of a request against what its key and its account may have of it in a minute.
   * @returns what the answer says of these limits @throws ApiError rate_limit_exceeded
   */
  async takeWork(caller: Caller, work: MinuteWork): Promise<Record<string, string>> {
    const headers: Record<string, string> = {};
    for (const unit of ['tokens', 'images'] as const) {
      const amount = Number(work[unit] ?? 0n);
      const limits = callerLimits(caller, LIMIT_OF[unit], this.parts.defaults);
      if (amount === 0 || limits.length === 0) continue;
      const named = limits.map(({ subject, most }) => ({ subject: `${subject} ${unit}`, most }));
      const { passes, tightest } = await this.take(named, amount);
      if (!passes) throw reached(tightest, unit, amount);
      Object.assign(headers, headersOf(tightest, unit));
    }
    return headers;
  }

  /** Takes this many from every limit, or none. */
  async take(limits: readonly RequestLimit[], amount = 1): Promise<{ passes: boolean; tightest: Allowance }> {
    const taken: { share: Share; endsAtMs: number }[] = [];
    const allowances: Allowance[] = [];
    for (const limit of limits) {
      const share = await this.takeOne(limit, amount);
      const allowance = this.allowanceOf(limit);
      if (share === null) {
        // What was taken for another minute is lost.
        for (const other of taken) if (other.share.endsAtMs === other.endsAtMs) other.share.left += amount;
        return { passes: false, tightest: allowance };
      }
      taken.push({ share, endsAtMs: share.endsAtMs });
      allowances.push(allowance);
    }
    return { passes: true, tightest: allowances.reduce((a, b) => (b.remaining < a.remaining ? b : a)) };
  }

  /** Takes this many of the current minute. Null if fewer are left. */
  private async takeOne(limit: RequestLimit, amount: number): Promise<Share | null> {
    // It could never pass, and must not use up what others could.
    if (amount > limit.most) return null;
    for (;;) {
      const share = this.shareOf(limit.subject);
      const isCurrent = this.parts.clock.elapsedMs() < share.endsAtMs;
      if (isCurrent && share.left >= amount) {
        share.left -= amount;
        return share;
      }
      if (isCurrent && share.untaken === 0) return null;
      share.taking ??= this.takePart(limit, share, amount).finally(() => (share.taking = undefined));
      await share.taking;
    }
  }

  private shareOf(subject: string): Share {
    let share = this.shares.get(subject);
    if (!share) {
      if (this.shares.size >= MAX_SHARES) this.forgetPast();
      share = { endsAtMs: 0, left: 0, untaken: 0, taking: undefined };
      this.shares.set(subject, share);
    }
    return share;
  }

  private async takePart(
    { subject, most: perMinute }: RequestLimit,
    share: Share,
    amount: number,
  ): Promise<void> {
    const part = Math.max(amount, Math.floor(perMinute / PARTS_OF_A_MINUTE));
    const askedAtMs = this.parts.clock.elapsedMs();
    const values = [subject, part, perMinute];
    const { rows } = await this.parts.pool.query<{ left_ms: number; taken: number | null }>({
      ...TAKE,
      values,
    });
    const row = rows[0]!;
    const isNewMinute = askedAtMs >= share.endsAtMs;
    // The last part of a minute may be shorter than the others.
    const granted = row.taken === null ? 0 : Math.min(part, perMinute - (row.taken - part));
    share.left = granted + (isNewMinute ? 0 : share.left);
    share.untaken = row.taken === null ? 0 : Math.max(0, perMinute - row.taken);
    share.endsAtMs = askedAtMs + row.left_ms;
  }

  private allowanceOf({ subject, most: perMinute }: RequestLimit): Allowance {
    const share = this.shareOf(subject);
    const resetMs = Math.max(1, share.endsAtMs - this.parts.clock.elapsedMs());
    return { perMinute, remaining: share.left + share.untaken, resetMs };
  }

  private forgetPast(): void {
    const nowMs = this.parts.clock.elapsedMs();
    for (const [subject, share] of this.shares) {
      if (share.endsAtMs <= nowMs && !share.taking) this.shares.delete(subject);
    }
  }

  private async purgePast(): Promise<boolean> {
    this.forgetPast();
    const { rowCount } = await this.parts.pool.query(PURGE);
    return rowCount === MAX_PURGED;
  }
}

function reached({ perMinute, resetMs }: Allowance, unit: string, amount = 1): ApiError {
  const isTooLarge = amount > perMinute;
  const what = isTooLarge
    ? `The request may use ${amount} ${unit}, but its key or account is limited to ${perMinute} per minute.`
    : `The limit of ${perMinute} ${unit} per minute is reached.`;
  const retryAfterSeconds = Math.min(LONGEST_RETRY_SECONDS, Math.ceil(resetMs / 1000));
  const rest = isTooLarge ? { shouldRetry: false } : { retryAfterSeconds };
  return new ApiError('rate_limit_exceeded', `${what} Nothing was charged.`, rest);
}

function headersOf(
  { perMinute, remaining, resetMs }: Allowance,
  unit: keyof MinuteWork | 'requests' = 'requests',
): Record<string, string> {
  return {
    [`x-ratelimit-limit-${unit}`]: String(perMinute),
    [`x-ratelimit-remaining-${unit}`]: String(Math.max(0, remaining)),
    [`x-ratelimit-reset-${unit}`]:
      resetMs < 1000 ? `${Math.ceil(resetMs)}ms` : `${Math.ceil(resetMs / 1000)}s`,
  };
}
