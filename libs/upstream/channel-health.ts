import type { Readable } from 'node:stream';
import type { Channel } from '#catalog/catalog.js';
import type { Clock } from '#platform/clock.js';
import { Counter, Gauge, type Registry } from '#platform/metrics.js';
import type { NotAccepted, PollOutcome, Unknown } from './outcomes.js';

export interface HealthOptions {
  clock: Clock;
  /** Failures without a success between them that open a channel's breaker. */
  failuresToOpen: number;
  /** How long an open breaker keeps calls away before one of them may try. */
  openMs: number;
  registry?: Registry;
  /** What the names of its metrics begin with: `upstream_channel`, unless two programs share the registry. */
  metricPrefix?: string;
  /** Told of each change, for the log. */
  onChange?: (channelId: string, state: ChannelState, reason: string) => void;
}

export type ChannelState = 'closed' | 'half_open' | 'open';

/** Any outcome of a call to an upstream. */
export interface CallOutcome {
  kind: string;
  reason?: string;
  upstreamStatus?: number | null;
  /** Of a poll without an answer: what it speaks against. */
  of?: 'channel' | 'task';
  /** What is still coming of the answer. */
  body?: Readable;
}

/** A place on a channel: to be left exactly once, whatever happens. */
export interface Place {
  /** Tells how the call went, as soon as that is known: of a stream, at its head. A call that is given up tells nothing. */
  report(outcome: CallOutcome): void;
  /** Frees the place; safe to call again. */
  leave(): void;
}

/** What a breaker and a limit need to know about one channel. */
interface Vitals {
  inFlight: number;
  failures: number;
  /** When the breaker opened, or its last trial began or failed; null while it is closed. */
  openedAtMs: number | null;
  /** The call that tries whether an open channel is well again, and when it may be taken for lost. */
  trial: { place: Place; untilMs: number } | null;
  /** The last call that failed, whatever came after it. */
  lastFailure: ChannelFailure | null;
  /** How long the last calls took until they had an outcome, the oldest first; milliseconds. */
  tookMs: number[];
}

/** A call that failed. */
export interface ChannelFailure {
  atMs: number;
  reason: string;
  status: number | null;
}

/** How a channel is, as this program met it. */
export interface ChannelVitals {
  channelId: string;
  state: ChannelState;
  inFlight: number;
  /** Since a call succeeded. */
  failures: number;
  openedAtMs: number | null;
  lastFailure: ChannelFailure | null;
  /** Of the last calls; null before the first. */
  p50Ms: number | null;
  p99Ms: number | null;
}

/** Kinds that speak against a channel. A refusal for what the caller sent shows that the vendor is well. */
const FAILURES: ReadonlySet<string> = new Set<NotAccepted['kind'] | Unknown['kind'] | PollOutcome['kind']>([
  'not_accepted',
  'unknown',
  'no_answer',
]);
/** The vendor is well but has no such model, or takes no body as large: not a fault that other calls would share. */
const OF_ONE_CALL: readonly unknown[] = [404, 413];

function isOfOneCall({ kind, upstreamStatus, of }: CallOutcome): boolean {
  return of === 'task' || (kind === 'not_accepted' && OF_ONE_CALL.includes(upstreamStatus));
}

/** Enough to tell a slow channel from a slow call. */
const TIMED_CALLS = 200;
const MAX_REASON_CHARS = 300;
const RETRY_AFTER = { minSeconds: 1, maxSeconds: 5 };

/**
 * The health of the channels as this program meets it: a circuit breaker and a limit of calls at once for each. Kept in
 * memory: every program finds out for itself, and a restart forgets.
 *
 * The breaker is written here because the libraries for it run a function and make the others wait for, or share, the
 * trial of a half-open circuit. A relay asks beforehand, sends the others to the next channel meanwhile, knows its
 * outcomes by value, and keeps a place for as long as a stream lasts.
 */
export class ChannelHealth {
  private readonly vitals = new Map<string, Vitals>();
  private readonly opened: Counter | undefined;

  constructor(private readonly options: HealthOptions) {
    if (options.registry) this.opened = this.registerMetrics(options.registry);
  }

  /** Those of the channels that would take a call now; the order stays, which is the order to ask them in. */
  candidates(channels: readonly Channel[]): Channel[] {
    return channels.filter((channel) => this.hasPlace(channel));
  }

  /** Takes a place on a channel; null when it has none, although it may have had one a moment ago. */
  enter(channel: Channel): Place | null {
    if (!this.hasPlace(channel)) return null;
    const vitals = this.vitalsOf(channel.id);
    vitals.inFlight += 1;
    const place = this.placeOn(channel.id, vitals);
    if (vitals.openedAtMs !== null) {
      vitals.trial = { place, untilMs: this.options.clock.nowMs() + channel.requestTimeoutMs };
      this.options.onChange?.(channel.id, 'half_open', 'a call may try it');
    }
    return place;
  }

  /**
   * Makes a call on a channel, from entering to leaving. Without a place it is not made and the answer says so, truly.
   * A call whose `isGivenUp` says that the caller left tells nothing about the channel. An answer with a body keeps
   * its place until the body is closed.
   */
  async run<T extends CallOutcome>(
    channel: Channel,
    call: () => Promise<T>,
    isGivenUp: () => boolean = () => false,
  ): Promise<T | NotAccepted> {
    const place = this.enter(channel);
    if (!place)
      return { kind: 'not_accepted', reason: 'the channel takes no call now', upstreamStatus: null };
    let body: Readable | undefined;
    try {
      const outcome = await call();
      if (!isGivenUp()) place.report(outcome);
      ({ body } = outcome);
      return outcome;
    } finally {
      if (body && !body.closed) body.once('close', () => place.leave());
      else place.leave();
    }
  }

  /** How every channel is that was ever used. */
  vitalsOfAll(): ChannelVitals[] {
    return [...this.vitals].map(([channelId, { inFlight, failures, openedAtMs, lastFailure, tookMs }]) => {
      const sorted = tookMs.toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? null;
      const times = { p50Ms: at(0.5), p99Ms: at(0.99) };
      return {
        channelId,
        state: this.state(channelId),
        inFlight,
        failures,
        openedAtMs,
        lastFailure,
        ...times,
      };
    });
  }

  state(channelId: string): ChannelState {
    const vitals = this.vitals.get(channelId);
    if (!vitals || vitals.openedAtMs === null) return 'closed';
    return vitals.trial ? 'half_open' : 'open';
  }

  /**
   * How many calls a channel bears at the same time now, those under way included: none while it is left alone, one where
   * a trial is due, else its limit.
   */
  allowance(channel: Channel): number {
    const vitals = this.vitals.get(channel.id);
    if (vitals && vitals.openedAtMs !== null) return this.hasPlace(channel) ? 1 : 0;
    return channel.maxConcurrency ?? Infinity;
  }

  /** When to come again if none of the channels has a place, in whole seconds: for a Retry-After header. */
  retryAfterSeconds(channels: readonly Channel[]): number {
    const waitsMs = channels.map(({ id }) => this.restMs(this.vitals.get(id)));
    const seconds = Math.ceil(Math.min(...waitsMs) / 1000);
    return Math.min(RETRY_AFTER.maxSeconds, Math.max(RETRY_AFTER.minSeconds, seconds));
  }

  private hasPlace(channel: Channel): boolean {
    const vitals = this.vitals.get(channel.id);
    if (!vitals) return true;
    if (channel.maxConcurrency !== null && vitals.inFlight >= channel.maxConcurrency) return false;
    if (vitals.openedAtMs === null) return true;
    const isOnTrial = vitals.trial !== null && vitals.trial.untilMs > this.options.clock.nowMs();
    return !isOnTrial && this.restMs(vitals) === 0;
  }

  /** How long a breaker still keeps calls away. */
  private restMs(vitals: Vitals | undefined): number {
    if (!vitals || vitals.openedAtMs === null) return 0;
    return Math.max(0, vitals.openedAtMs + this.options.openMs - this.options.clock.nowMs());
  }

  private placeOn(channelId: string, vitals: Vitals): Place {
    let isHeld = true;
    const beganMs = performance.now();
    const place: Place = {
      report: (outcome) => {
        note(vitals, outcome, { atMs: this.options.clock.nowMs(), tookMs: performance.now() - beganMs });
        this.take(channelId, { outcome, place });
      },
      leave: () => {
        if (!isHeld) return;
        isHeld = false;
        vitals.inFlight -= 1;
        // A trial that ended without a word proves nothing; the next call is one.
        if (vitals.trial?.place === place) vitals.trial = null;
      },
    };
    return place;
  }

  private take(channelId: string, { outcome, place }: { outcome: CallOutcome; place: Place }): void {
    const vitals = this.vitalsOf(channelId);
    if (isOfOneCall(outcome)) return;
    const isTrial = vitals.trial?.place === place;
    if (!FAILURES.has(outcome.kind)) {
      vitals.failures = 0;
      if (vitals.openedAtMs === null) return;
      vitals.openedAtMs = vitals.trial = null;
      this.options.onChange?.(channelId, 'closed', 'a call succeeded');
      return;
    }
    vitals.failures += 1;
    // Calls that began before it opened add nothing; the trial opens it again.
    if (vitals.openedAtMs !== null && !isTrial) return;
    if (vitals.openedAtMs === null && vitals.failures < this.options.failuresToOpen) return;
    vitals.openedAtMs = this.options.clock.nowMs();
    vitals.trial = null;
    this.opened?.inc({ channel: channelId });
    this.options.onChange?.(channelId, 'open', outcome.reason ?? outcome.kind);
  }

  /** One entry for each channel that was ever used: as many as the operator configured. */
  private vitalsOf(channelId: string): Vitals {
    let vitals = this.vitals.get(channelId);
    if (!vitals) {
      vitals = { inFlight: 0, failures: 0, openedAtMs: null, trial: null, lastFailure: null, tookMs: [] };
      this.vitals.set(channelId, vitals);
    }
    return vitals;
  }

  private registerMetrics(registry: Registry): Counter {
    const registers = [registry];
    const { vitals } = this;
    const { metricPrefix = 'upstream_channel' } = this.options;
    const stateOf = (id: string) => ({ closed: 0, half_open: 1, open: 2 })[this.state(id)];
    new Gauge({
      name: `${metricPrefix}_state`,
      help: 'The breaker of a channel: 0 closed, 1 half open (one call tries it), 2 open',
      labelNames: ['channel'],
      registers,
      collect() {
        for (const id of vitals.keys()) this.set({ channel: id }, stateOf(id));
      },
    });
    new Gauge({
      name: `${metricPrefix}_calls`,
      help: 'Calls that hold a place on a channel now',
      labelNames: ['channel'],
      registers,
      collect() {
        for (const [id, { inFlight }] of vitals) this.set({ channel: id }, inFlight);
      },
    });
    return new Counter({
      name: `${metricPrefix}_opened_total`,
      help: 'How often the breaker of a channel opened',
      labelNames: ['channel'],
      registers,
    });
  }
}

/** For whoever looks at a channel; no decision hangs on it. */
function note(
  vitals: Vitals,
  outcome: CallOutcome,
  { atMs, tookMs }: { atMs: number; tookMs: number },
): void {
  vitals.tookMs.push(Math.round(tookMs));
  if (vitals.tookMs.length > TIMED_CALLS) vitals.tookMs.shift();
  if (!FAILURES.has(outcome.kind)) return;
  const reason = (outcome.reason ?? outcome.kind).slice(0, MAX_REASON_CHARS);
  vitals.lastFailure = { atMs, reason, status: outcome.upstreamStatus ?? null };
}
