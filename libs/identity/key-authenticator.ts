import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { hashApiKey } from '#platform/ids.js';
import { type ConsoleGrant, isGrant, readGrant } from './console-grant.js';

/** The caller: an active key, its account and its group. */
export interface Caller {
  readonly keyId: string;
  readonly accountId: string;
  readonly group: string;
  /** Allowed addresses and CIDR ranges; absent: any. */
  readonly allowedIps?: readonly string[];
  /** The models that the key may use, by these names or aliases; absent: all of its group. */
  readonly allowedModels?: readonly string[];
  /** Tried in this order if the one model of a request cannot serve; absent: none. */
  readonly fallbackModels?: readonly string[];
  /** The origin of this request, if the caller knows it better than the socket. */
  readonly clientIp?: string;
  /** Aborted if the client disconnects before its answer is sent. Then, nothing more needs to be started for it. */
  readonly left?: AbortSignal;
  /** The console reads a file: it limits the requests of its own users, and their keys have not called. */
  readonly uncounted?: true;
  /** Absent for most keys: no limit was set for the key, its group or its account. */
  readonly limits?: CallerLimits;
}

/** Limits of a key, of each account in its group, and of all keys of its account together. */
export interface CallerLimits {
  readonly key: Limits;
  readonly group: Limits;
  readonly account: Limits;
}

/** Null: no limit. */
export interface Limits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly imagesPerMinute: number | null;
  readonly runningTasks: number | null;
  readonly concurrentRequests: number | null;
}

/** The part of a `pg` pool that is used here. */
interface Queryable {
  query(statement: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<{ rows: Record<string, unknown>[] }>;
}

interface KeyOptions {
  /** How long a key is cached. */
  readonly lifeMs: number;
  /** Secret of the console's calls; undefined: the console makes none. */
  readonly grantSecret?: string | undefined;
}

interface CachedKey {
  caller: Caller;
  /** By `Clock.elapsedMs`: a clock that is set back keeps no deleted key alive. */
  loadedMs: number;
  expiresAtMs: number;
}

/** The case of the scheme is ignored: clients send `bearer`, and some send it twice or not at all. */
const BEARER = /^\s*(?:bearer\s+)*(\S+)\s*$/i;
const KEY_SHAPE = /^sk-tg-[A-Za-z0-9_-]{43}$/;
/** Cached keys, about 200 bytes each. The oldest is dropped first. */
const MAX_CACHED_KEYS = 50_000;

const SELECT_KEY = `
SELECT k.id, k.account_id, k.group_name, k.key_hash, k.allowed_ips, k.allowed_models, k.fallback_models, extract(epoch FROM k.expires_at) * 1000 AS expires_at_ms,
  k.requests_per_minute AS key_requests, k.max_running_tasks AS key_tasks,
  k.tokens_per_minute AS key_tokens, k.images_per_minute AS key_images,
  a.tokens_per_minute AS account_tokens, a.images_per_minute AS account_images,
  g.tokens_per_minute AS group_tokens, g.images_per_minute AS group_images,
  g.requests_per_minute AS group_requests, g.max_running_tasks AS group_tasks, g.max_concurrent_requests AS group_concurrent,
  a.requests_per_minute AS account_requests, a.max_concurrent_requests AS account_concurrent
FROM api_keys k JOIN groups g ON g.name = k.group_name JOIN accounts a ON a.id = k.account_id WHERE k.revoked_at IS NULL`;
const FIND_KEY = { name: 'find_api_key', text: `${SELECT_KEY} AND k.key_hash = $1` };
const FIND_KEY_BY_ID = { name: 'find_api_key_by_id', text: `${SELECT_KEY} AND k.id = $1` };

/** How a key is looked up, and what is required of it. */
interface Lookup {
  /** The cache key. */
  readonly name: string;
  readonly statement: { name: string; text: string };
  readonly value: Buffer | string;
  readonly isIt: (row: Record<string, unknown>) => boolean;
}

/**
 * Resolves an Authorization header to a caller. Active keys are cached by their hash for a short time and dropped by
 * key.changed. The hold decides again on everything that takes effect at once (revocation, limits), so an outdated
 * entry costs nothing.
 */
export class KeyAuthenticator {
  private readonly cached = new Map<string, CachedKey>();
  private readonly loading = new Map<string, Promise<CachedKey | undefined>>();
  private generation = 0;

  constructor(
    private readonly database: Queryable,
    private readonly clock: Clock,
    private readonly options: KeyOptions,
  ) {}

  /**
   * `audience`: what the path offers to calls from the console.
   * @throws ApiError invalid_api_key; the database's error if it cannot be reached
   */
  async authenticate(
    authorization: string | undefined,
    audience: ConsoleGrant['audience'] = 'call',
  ): Promise<Caller> {
    const token = bearerToken(authorization);
    return isGrant(token) ? this.authenticateGrant(token, audience) : this.authenticateKey(token);
  }

  /** The same for a key that arrived in another way. @throws like authenticate */
  async authenticateKey(apiKey: string): Promise<Caller> {
    if (!KEY_SHAPE.test(apiKey)) throw unknownKey();
    const hash = hashApiKey(apiKey);
    return this.authenticateBy({
      name: hash.toString('base64'),
      statement: FIND_KEY,
      value: hash,
      // The index may compare as it likes. This comparison takes the same time for every hash.
      isIt: (row) => timingSafeEqual(row['key_hash'] as Buffer, hash),
    });
  }

  /** A call counts like one with its key. A file belongs to its account, even if the key that created it is gone. */
  private async authenticateGrant(token: string, audience: ConsoleGrant['audience']): Promise<Caller> {
    const { grantSecret } = this.options;
    const grant = grantSecret === undefined ? null : readGrant(grantSecret, token, this.clock.nowMs());
    if (!grant) throw new ApiError('invalid_api_key', 'The console grant is invalid or has expired.');
    const { keyId, accountId, ip: clientIp } = grant;
    if (grant.audience === 'file') {
      if (audience !== 'file') throw unknownKey();
      return { keyId, accountId, group: '', clientIp, uncounted: true };
    }
    const caller = await this.authenticateBy({
      name: keyId,
      statement: FIND_KEY_BY_ID,
      value: keyId,
      isIt: (row) => row['id'] === keyId,
    });
    // Also for a cached key, because the grant is for one key of one account.
    if (caller.accountId !== accountId) throw unknownKey();
    return { ...caller, clientIp };
  }

  private async authenticateBy(lookup: Lookup): Promise<Caller> {
    const known = this.fresh(lookup.name) ?? (await this.load(lookup));
    if (!known || known.expiresAtMs <= this.clock.nowMs()) throw unknownKey();
    return known.caller;
  }

  /** Whether the key costs no lookup, or worked a while ago. This grants nothing. */
  isCheap(authorization: string): boolean {
    const token = BEARER.exec(authorization)?.[1] ?? '';
    if (!KEY_SHAPE.test(token)) return true;
    return this.cached.has(hashApiKey(token).toString('base64'));
  }

  /** Forgets every key, or the changed one. A lookup in progress may predate the change, so its result is not cached. */
  drop(keyId?: string): void {
    this.generation += 1;
    this.loading.clear();
    if (keyId === undefined) return this.cached.clear();
    for (const [name, key] of this.cached) {
      if (key.caller.keyId === keyId) this.cached.delete(name);
    }
  }

  private fresh(name: string): CachedKey | undefined {
    const key = this.cached.get(name);
    if (key && this.clock.elapsedMs() - key.loadedMs < this.options.lifeMs) return key;
    return undefined;
  }

  /** One lookup for all concurrent requests with the same key. */
  private load(lookup: Lookup): Promise<CachedKey | undefined> {
    const { name } = lookup;
    let loading = this.loading.get(name);
    if (!loading) {
      const started = this.find(lookup).finally(() => {
        if (this.loading.get(name) === started) this.loading.delete(name);
      });
      loading = started;
      this.loading.set(name, started);
    }
    return loading;
  }

  private async find({ name, statement, value, isIt }: Lookup): Promise<CachedKey | undefined> {
    const generation = this.generation;
    const loadedMs = this.clock.elapsedMs();
    const { rows } = await this.database.query({ ...statement, values: [value] });
    const row = rows[0];
    if (!row || !isIt(row)) {
      this.cached.delete(name);
      return undefined;
    }
    const key: CachedKey = {
      caller: callerFrom(row),
      loadedMs,
      expiresAtMs: row['expires_at_ms'] === null ? Infinity : Number(row['expires_at_ms']),
    };
    if (generation === this.generation) this.remember(name, key);
    return key;
  }

  private remember(name: string, key: CachedKey): void {
    this.cached.delete(name);
    const oldest = this.cached.size >= MAX_CACHED_KEYS ? this.cached.keys().next().value : undefined;
    if (oldest !== undefined) this.cached.delete(oldest);
    this.cached.set(name, key);
  }
}

function callerFrom(row: Record<string, unknown>): Caller {
  const limits: CallerLimits = {
    key: limitsFrom(row, 'key'),
    group: limitsFrom(row, 'group'),
    account: limitsFrom(row, 'account'),
  };
  const isLimited = Object.values(limits).some((of) => Object.values(of).some((limit) => limit !== null));
  return {
    keyId: row['id'] as string,
    accountId: row['account_id'] as string,
    group: row['group_name'] as string,
    ...(row['allowed_models'] === null ? {} : { allowedModels: row['allowed_models'] as string[] }),
    ...(row['fallback_models'] === null ? {} : { fallbackModels: row['fallback_models'] as string[] }),
    ...(row['allowed_ips'] === null ? {} : { allowedIps: row['allowed_ips'] as string[] }),
    ...(isLimited ? { limits } : {}),
  };
}

function limitsFrom(row: Record<string, unknown>, of: keyof CallerLimits): Limits {
  const limit = (name: string) => (row[`${of}_${name}`] ?? null) as number | null;
  return {
    requestsPerMinute: limit('requests'),
    tokensPerMinute: limit('tokens'),
    imagesPerMinute: limit('images'),
    runningTasks: limit('tasks'),
    concurrentRequests: limit('concurrent'),
  };
}

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization.trim() === '') {
    throw new ApiError(
      'invalid_api_key',
      'No API key was sent. Send it as a header: Authorization: Bearer YOUR_API_KEY.',
    );
  }
  return BEARER.exec(authorization)?.[1] ?? '';
}

/** Also for a cached key that is gone. */
export function unknownKey(): ApiError {
  return new ApiError('invalid_api_key', 'The API key is wrong, deleted or expired.');
}
