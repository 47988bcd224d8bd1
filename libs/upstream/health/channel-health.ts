import type { Readable } from 'node:stream';
import type { Channel } from '#catalog/catalog.js';
import { FairShare } from '#platform/fair-share.js';
import type { Counter, Registry } from '#platform/metrics.js';
import type { ShareRefusal, Share } from '#platform/share.js';
import { Breaker, type BreakerState, type CallFailure, type BreakerOutcome, failureOf } from './breaker.js';
import { CallTimes } from './call-times.js';
import { channelMetrics } from '../channel-metrics.js';
import type { ChannelVitals } from './channel-vitals.js';
import type { NotAccepted } from '../outcomes.js';
import { type ProbeOptions, VendorProbes } from './vendor-probes.js';

export interface HealthOptions extends ProbeOptions {
  /** Successive failures of a model that open its breaker on a channel. */
  failuresToOpen: number;
  registry?: Registry;
  /** The prefix of its metrics: `upstream_channel`, unless two programs share the registry. */
  metricPrefix?: string;
  /** Called at each change, for the log. */
  onChange?: (change: ChannelChange) => void;
  /** Channels that take no calls, regardless of their models. */
  isOff?: (channelId: string) => boolean;
}

interface ChannelChange {
  channel: string;
  model: string | null;
  state: BreakerState;
  reason: string;
}

export interface CallOutcome extends BreakerOutcome {
  /** The rest of the answer. */
  body?: Readable;
}

/** The purpose of a call. */
export interface Work {
  accountId: string;
  /** Null if it says nothing about a model, such as a poll or a count of tokens. */
  model: string | null;
}

/** A place on a channel. Leave it exactly once, whatever happens. */
export interface Place {
  /** Reports the outcome as soon as it is known: for a stream, at its head. An abandoned call reports nothing. */
  report(outcome: CallOutcome): void;
  /** Frees the place. Safe to repeat. */
  leave(): void;
}

/** The state of one model on one channel. */
interface Line {
  channelId: string;
  model: string | null;
  breaker: Breaker;
  inFlight: number;
  /** The last failed call, regardless of later ones. */
  lastFailure: CallFailure | null;
  times: CallTimes;
}

export interface RunOptions {
  work: Work;
  /** Taken before, on this channel. */
  place?: Place | undefined;
  /** Says that the caller left, so the call says nothing about the channel. */
  isGivenUp?: () => boolean;
}

const RETRY_AFTER = { minSeconds: 1, maxSeconds: 5 };
/** An account that called within this time finds a place on a channel, even beside one that calls without pause. */
const RECENT_MS = 10_000;
/**
 * The health of the channels as seen by this program: a circuit breaker for each model of each, and the channel's
 * places, divided fairly among the accounts. Kept in memory: every program finds out for itself and divides its own
 * places, and a restart forgets.
 */
export class ChannelHealth {
  private readonly lines = new Map<string, Line>();
  private readonly places = new Map<string, FairShare>();
  private readonly servedMs = new Map<string, number>();
  private readonly probes: VendorProbes;
  private readonly opened: Counter | undefined;

  constructor(private readonly options: HealthOptions) {
    const { registry, metricPrefix = 'upstream_channel' } = options;
    this.probes = new VendorProbes(options);
    if (registry) this.opened = channelMetrics(registry, metricPrefix, this);
  }

  /** The channels, in the same order, on which such a call may be made now, or wait. */
  candidates(channels: readonly Channel[], work: Work): Channel[] {
    const on = channels.filter(({ id }) => !this.options.isOff?.(id));
    // If all are switched off, the fault may be this program's own network, and only a call can show that.
    return (on.length > 0 ? on : channels).filter(
      ({ id }) => this.known(id, work.model)?.breaker.admits(work.accountId) ?? true,
    );
  }

  /** When a call to a channel last succeeded, by the elapsed time. */
  lastServedMs(channelId: string): number | undefined {
    return this.servedMs.get(channelId);
  }

  /** Takes a place on a channel now; null if it has none for this account, although it may have had one a moment ago. */
  enter(channel: Channel, work: Work): Place | null {
    if (this.candidates([channel], work).length === 0) return null;
    const share = this.placesOf(channel).takeNow(work.accountId);
    return share.granted ? this.placeOn(channel, { work, share }) : null;
  }

  /**
   * Takes a place on the first channel that has one. Otherwise, waits for the first to have one, in turn with other
   * accounts.
   */
  async enterOne<C extends Channel>(
    channels: readonly C[],
    work: Work,
    wait: { waitMs: number; signal?: AbortSignal | undefined },
  ): Promise<{ channel: C; place: Place } | ShareRefusal> {
    for (const channel of channels) {
      const place = this.enter(channel, work);
      if (place) return { channel, place };
    }
    const won = new AbortController();
    const signal = wait.signal ? AbortSignal.any([won.signal, wait.signal]) : won.signal;
    const taken: { channel: C; share: Share }[] = [];
    const refused = await Promise.all(
      channels.map(async (channel) => {
        const { waitMs } = wait;
        const share = await this.placesOf(channel).take(work.accountId, 1, { waitMs, signal });
        if (!share.granted) return share;
        taken.push({ channel, share });
        won.abort();
        return null;
      }),
    );
    return this.keepOne(taken, work) ?? whyNot(refused);
  }

  /**
   * Makes a call on a channel, with a place. Without a place, it is not made, and the answer says so. An answer with a
   * body keeps its place until the body is closed.
   */
  async run<T extends CallOutcome>(
    channel: Channel,
    call: () => Promise<T>,
    { work, place: taken, isGivenUp = () => false }: RunOptions,
  ): Promise<T | NotAccepted> {
    const place = taken ?? this.enter(channel, work);
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

  /** The state of every model of every channel that was ever used. */
  vitalsOfAll(): ChannelVitals[] {
    return [...this.lines.values()].map(({ breaker, times, ...line }) => {
      const { failures, openForMs } = breaker;
      const openedAtMs = openForMs === null ? null : Math.round(this.options.clock.nowMs() - openForMs);
      const state = this.options.isOff?.(line.channelId) ? 'open' : breaker.state;
      return { ...line, state, failures, openedAtMs, ...times.figures };
    });
  }

  /** How long served calls to a model on a channel took lately; null before the first. */
  latencyMs(channelId: string, model: string): number | null {
    return this.known(channelId, model)?.times.latencyMs ?? null;
  }

  /** The places of every channel that was ever used. */
  placesOfAll(): ReadonlyMap<string, Pick<FairShare, 'taken' | 'waiting' | 'capacity'>> {
    return this.places;
  }

  state(channelId: string, model: string | null): BreakerState {
    return this.known(channelId, model)?.breaker.state ?? 'closed';
  }

  /**
   * How many calls without a model a channel takes at the same time now, including those in progress: none while it is
   * blocked, one when a trial is due, otherwise its limit.
   */
  allowance(channel: Channel): number {
    const line = this.known(channel.id, null);
    if (line && line.breaker.openForMs !== null) return line.breaker.admits() ? 1 : 0;
    return channel.maxConcurrency ?? Infinity;
  }

  /** When to retry if none of the channels takes a call for a model, in whole seconds: for a Retry-After header. */
  retryAfterSeconds(channels: readonly Channel[], model: string | null): number {
    const waitsMs = channels.map(({ id }) => this.known(id, model)?.breaker.restMs() ?? 0);
    const seconds = Math.ceil(Math.min(...waitsMs) / 1000);
    return Math.min(RETRY_AFTER.maxSeconds, Math.max(RETRY_AFTER.minSeconds, seconds));
  }

  /** Several may have had a place at the same moment, and a breaker may have opened during the wait. */
  private keepOne<C extends Channel>(
    taken: readonly { channel: C; share: Share }[],
    work: Work,
  ): { channel: C; place: Place } | null {
    let kept: { channel: C; place: Place } | null = null;
    for (const { channel, share } of taken) {
      if (kept || this.candidates([channel], work).length === 0) share.release();
      else kept = { channel, place: this.placeOn(channel, { work, share }) };
    }
    return kept;
  }

  private placeOn(channel: Channel, { work, share }: { work: Work; share: Share }): Place {
    const line = this.lineOf(channel, work.model);
    const attempt = line.breaker.begin(work.accountId, channel.requestTimeoutMs);
    const beganMs = performance.now();
    line.inFlight += 1;
    let isHeld = true;
    return {
      report: (outcome) => {
        const failure = failureOf(outcome, this.options.clock.nowMs());
        line.times.note(performance.now() - beganMs, failure === null && outcome.kind !== 'refused');
        if (failure) line.lastFailure = failure;
        else this.servedMs.set(channel.id, this.options.clock.elapsedMs());
        attempt.report(outcome);
      },
      leave: () => {
        if (!isHeld) return;
        isHeld = false;
        line.inFlight -= 1;
        attempt.end();
        share.release();
      },
    };
  }

  private placesOf({ id, maxConcurrency }: Channel): FairShare {
    const capacity = maxConcurrency ?? Infinity;
    let places = this.places.get(id);
    if (!places) {
      places = new FairShare({ clock: this.options.clock, capacity, recentMs: RECENT_MS });
      this.places.set(id, places);
    }
    places.capacity = capacity;
    return places;
  }

  private known(channelId: string, model: string | null): Line | undefined {
    return this.lines.get(JSON.stringify([channelId, model]));
  }

  /** One entry for each model of each channel that was ever used: as many as the operator configured. */
  private lineOf(channel: Channel, model: string | null): Line {
    const name = JSON.stringify([channel.id, model]);
    let line = this.lines.get(name);
    if (!line) {
      const breaker = this.breakerFor(channel, model);
      line = {
        channelId: channel.id,
        model,
        breaker,
        inFlight: 0,
        lastFailure: null,
        times: new CallTimes(),
      };
      this.lines.set(name, line);
    }
    return line;
  }

  private breakerFor(channel: Channel, model: string | null): Breaker {
    const { clock, failuresToOpen, openMs, onChange } = this.options;
    return new Breaker({
      clock,
      failuresToOpen,
      openMs,
      isUnhealthy: () => this.probes.isUnhealthy(channel),
      onChange: (state, reason) => {
        if (state === 'open') this.opened?.inc({ channel: channel.id, model: model ?? '' });
        onChange?.({ channel: channel.id, model, state, reason });
      },
    });
  }
}

/** An account that has its share of one channel was not passed over. */
function whyNot(refused: readonly (ShareRefusal | null)[]): ShareRefusal {
  const all = refused.filter((refusal) => refusal !== null);
  const of = (reason: ShareRefusal['reason']) => all.find((refusal) => refusal.reason === reason);
  const nowhere: ShareRefusal = { granted: false, reason: 'full', retryAfterSeconds: RETRY_AFTER.minSeconds };
  return of('over_share') ?? of('full') ?? of('aborted') ?? nowhere;
}
