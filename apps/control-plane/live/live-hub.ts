import type pg from 'pg';
import { PassThrough, type Readable } from 'node:stream';
import type { Actor } from '#identity/role.js';
import type { SessionStore } from '#identity/session.store.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { FairShare } from '#platform/fair-share.js';
import type { Share } from '#platform/share.js';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';
import type { LiveConfig } from '../console.config.js';
import { type AccountState, readAccountStates } from './account-state.js';

export interface LiveHubParts {
  pool: pg.Pool;
  sessions: Pick<SessionStore, 'shownAccounts'>;
  clock: Clock;
  config: LiveConfig;
  log: Logger;
}

/** A browser that watches an account. */
interface Watcher {
  readonly userId: string;
  readonly sessionId: string;
  readonly accountId: string;
  readonly stream: PassThrough;
  /** The present state was sent to it. */
  isUpToDate: boolean;
  /** When anything was last sent to it, by the monotonic clock. */
  wroteAtMs: number;
}

/** What was last sent of an account: each event by its name, as text. */
interface Sent {
  events: Map<string, string>;
  running: string[];
}

/** How much a browser that does not read may leave waiting before it is disconnected. It reconnects automatically. */
const MOST_WAITING_BYTES = 256 * 1024;
/** Milliseconds after which a browser reconnects. */
const RECONNECT_MS = 2_000;
/** Seconds after which a refused client may try again. */
const RETRY_SECONDS = 5;
/** One in this many connections is reserved for accounts that have none. */
const RESERVED_PART = 10;

/**
 * Reports to browsers what changes on the accounts that they watch. The database is asked at intervals for all of them
 * together, so a stream costs a socket and nothing else; without any, nothing is asked.
 */
export class LiveHub extends Looping {
  private readonly watchers = new Set<Watcher>();
  private readonly sent = new Map<string, Sent>();
  private readonly places: FairShare;
  private isClosed = false;

  constructor(private readonly parts: LiveHubParts) {
    const { config, log, clock } = parts;
    super({ name: 'live', intervalMs: config.pollMs, log });
    const reserve = Math.floor(config.connections / RESERVED_PART);
    this.places = new FairShare({ clock, capacity: config.connections, reserve });
  }

  /** Ends every stream; browsers come back to the program that serves them then. */
  override async stop(): Promise<void> {
    this.isClosed = true;
    for (const watcher of this.watchers) end(watcher, 'shutdown');
    await super.stop();
  }

  /** A stream of events of the actor's account, until the session or the connection ends. @throws ApiError */
  watch({ userId, sessionId, accountId }: Actor): Readable {
    const place = this.requirePlace(userId, accountId);
    const stream = new PassThrough();
    const watcher = { userId, sessionId, accountId, stream, isUpToDate: false, wroteAtMs: performance.now() };
    this.watchers.add(watcher);
    // A broken socket is not an error here: only its end matters.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      this.watchers.delete(watcher);
      place.release();
    });
    stream.write(`retry: ${RECONNECT_MS}\n\n`);
    this.wake();
    return stream;
  }

  private requirePlace(userId: string, accountId: string): Share {
    if (this.isClosed) throw new ApiError('service_unavailable', 'The console is shutting down.');
    const own = [...this.watchers].filter((each) => each.userId === userId).length;
    const isOwnMost = own >= this.parts.config.connectionsPerPerson;
    const place = isOwnMost ? null : this.places.tryTake(accountId);
    if (place?.granted) return place;
    const isOwn = isOwnMost || place?.reason === 'over_share';
    const who = isOwn ? 'You have too many live pages open' : 'Too many live pages are open';
    throw new ApiError('rate_limit_exceeded', `${who}. Close one, or try again later.`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  protected async round(): Promise<void> {
    if (this.watchers.size === 0) return this.sent.clear();
    try {
      await this.endOver();
      await this.publish();
    } finally {
      this.beat();
    }
  }

  /** Ends the streams of sessions that are over, and of those that show another account by now. */
  private async endOver(): Promise<void> {
    const watchers = [...this.watchers];
    const shown = await this.parts.sessions.shownAccounts([
      ...new Set(watchers.map((each) => each.sessionId)),
    ]);
    for (const watcher of watchers)
      if (shown.get(watcher.sessionId) !== watcher.accountId) end(watcher, 'session_ended');
  }

  private async publish(): Promise<void> {
    const { pool, clock } = this.parts;
    // A browser that comes while the database is asked is served by the next round, which has already been woken.
    const watchers = [...this.watchers].filter(({ stream }) => !stream.writableEnded);
    const accounts = new Set(watchers.map(({ accountId }) => accountId));
    for (const accountId of this.sent.keys()) if (!accounts.has(accountId)) this.sent.delete(accountId);
    if (accounts.size === 0) return;
    const watched = [...accounts].map((accountId) => ({
      accountId,
      running: this.sent.get(accountId)?.running ?? [],
    }));
    const states = await readAccountStates(pool, watched, clock.nowMs());
    for (const [accountId, state] of states) {
      const before = this.sent.get(accountId)?.events;
      const events = eventsOf(state);
      const changed = [...events].filter(([name, event]) => before?.get(name) !== event);
      for (const watcher of watchers) {
        if (watcher.accountId !== accountId) continue;
        tell(watcher, watcher.isUpToDate ? changed.map(([, event]) => event) : [...events.values()]);
      }
      const running = state.tasks.filter(({ endedAt }) => endedAt === null).map(({ id }) => id);
      this.sent.set(accountId, { events, running });
    }
  }

  private beat(): void {
    const quietMs = performance.now() - this.parts.config.heartbeatMs;
    for (const watcher of this.watchers) if (watcher.wroteAtMs <= quietMs) write(watcher, ': still here\n\n');
  }
}

function eventsOf({ balance, tasks }: AccountState): Map<string, string> {
  return new Map([
    ['balance', eventOf('balance', balance)],
    ...tasks.map((task): [string, string] => [task.id, eventOf('task', task)]),
  ]);
}

/** JSON holds no line break, so one line of data is enough. */
function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function write(watcher: Watcher, text: string): void {
  const { stream } = watcher;
  if (stream.writableEnded || stream.destroyed) return;
  if (stream.writableLength + stream.readableLength > MOST_WAITING_BYTES) {
    stream.destroy();
    return;
  }
  watcher.wroteAtMs = performance.now();
  stream.write(text);
}

function end({ stream }: Watcher, reason: 'session_ended' | 'shutdown'): void {
  if (!stream.writableEnded && !stream.destroyed) stream.end(eventOf('end', { reason }));
}

function tell(watcher: Watcher, news: readonly string[]): void {
  watcher.isUpToDate = true;
  if (news.length > 0) write(watcher, news.join(''));
}
