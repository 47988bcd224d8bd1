import type { Clock } from '#platform/clock.js';

/** Any outcome of a call to an upstream. */
export interface BreakerOutcome {
  kind: string;
  reason?: string;
  upstreamStatus?: number | null;
  /** For a poll without an answer: what failed. */
  of?: 'channel' | 'task';
}

export type BreakerState = 'closed' | 'half_open' | 'open';

/** Outcomes that count against a channel. A refusal of the caller's content shows that the vendor is healthy. */
export const failureKinds = ['not_accepted', 'unknown', 'no_answer'] as const;

type FailureKind = (typeof failureKinds)[number];

export interface CallFailure {
  atMs: number;
  /** Programs of an earlier version do not report it. */
  kind?: FailureKind;
  reason: string;
  status: number | null;
}

export interface BreakerOptions {
  clock: Clock;
  /** Successive failures that open it, if they are not only one account's. */
  failuresToOpen: number;
  /** How long it blocks calls before one of them may try. */
  openMs: number;
  /** Sends the upstream a free request: whether it is unhealthy for every account. Never throws. */
  isUnhealthy: () => Promise<boolean>;
  onChange: (state: BreakerState, reason: string) => void;
}

export interface BreakerCall {
  report(outcome: BreakerOutcome): void;
  /** Says that nothing more will be reported. Safe to repeat. */
  end(): void;
}

/** If this many accounts fail, their requests are not the cause. With fewer, our own probe has to fail as well. */
const ACCOUNTS_TO_OPEN = 2;
/** The most accounts that are remembered, for failures and for successes. */
const MAX_ACCOUNTS = 64;

/** The 4xx that are about our key, balance and limits. Any other is about the one request. */
const OF_THE_CHANNEL: readonly number[] = [401, 402, 403, 429];
const MAX_REASON_CHARS = 300;

function isOfOneCall({ upstreamStatus, of }: BreakerOutcome): boolean {
  const status = upstreamStatus ?? 0;
  return of === 'task' || (status >= 400 && status < 500 && !OF_THE_CHANNEL.includes(status));
}

function failureKindOf({ kind }: BreakerOutcome): FailureKind | undefined {
  return failureKinds.find((each) => each === kind);
}

export function failureOf(outcome: BreakerOutcome, atMs: number): CallFailure | null {
  const kind = failureKindOf(outcome);
  if (kind === undefined) return null;
  const reason = (outcome.reason ?? kind).slice(0, MAX_REASON_CHARS);
  return { atMs, kind, reason, status: outcome.upstreamStatus ?? null };
}

/**
 * A circuit breaker for one model on one channel. No single customer opens it or keeps it open: failures count if they
 * come from several accounts while no other is served. Otherwise, they only make us send the upstream a request of our
 * own. After its time, one call tries. If that fails for one account but our probe does not, that account waits and the
 * next one may try.
 *
 * It is written here because libraries for it run a function and make others wait for, or share, the trial of a
 * half-open circuit. A relay asks beforehand, sends other calls to the next channel meanwhile, and has its outcomes as
 * values.
 */
export class Breaker {
  failures = 0;
  /** When it opened, by the elapsed time; null while it is closed. */
  private openedMs: number | null = null;
  /** Accounts that failed since a call succeeded, or since it opened. */
  private readonly failing = new Set<string>();
  /** When a call of each account last succeeded, the latest at the end. */
  private readonly succeeded = new Map<string, number>();
  /** Accounts whose trial failed, and until when they wait. */
  private readonly tried = new Map<string, number>();
  /** The call that tries whether an open channel is healthy again, and when it counts as lost. */
  private trial: { attempt: BreakerCall; untilMs: number } | null = null;
  private probing: symbol | null = null;

  constructor(private readonly options: BreakerOptions) {}

  /** For how long it has been open; null while it is closed. */
  get openForMs(): number | null {
    return this.openedMs === null ? null : this.options.clock.elapsedMs() - this.openedMs;
  }

  get state(): BreakerState {
    if (this.openedMs === null) return 'closed';
    return this.trial ? 'half_open' : 'open';
  }

  /** Whether a call of an account may be made now. Without an account: of any. */
  admits(accountId?: string): boolean {
    if (this.openedMs === null) return true;
    const nowMs = this.options.clock.elapsedMs();
    if (this.probing || (this.trial !== null && this.trial.untilMs > nowMs)) return false;
    return this.restMs() === 0 && (accountId === undefined || (this.tried.get(accountId) ?? 0) <= nowMs);
  }

  /** How long it still blocks calls. */
  restMs(): number {
    if (this.openedMs === null) return 0;
    return Math.max(0, this.openedMs + this.options.openMs - this.options.clock.elapsedMs());
  }

  /** Starts a call. If the breaker is open, it is the trial, which counts as lost after `limitMs`. */
  begin(accountId: string, limitMs: number): BreakerCall {
    const attempt: BreakerCall = {
      report: (outcome) => this.take(outcome, accountId, attempt),
      // A trial that ended without a report proves nothing. The next call is one.
      end: () => {
        if (this.trial?.attempt === attempt) this.trial = null;
      },
    };
    if (this.openedMs !== null) {
      this.trial = { attempt, untilMs: this.options.clock.elapsedMs() + limitMs };
      this.options.onChange('half_open', 'a call may try it');
    }
    return attempt;
  }

  private take(outcome: BreakerOutcome, accountId: string, attempt: BreakerCall): void {
    if (!failureKindOf(outcome)) return this.succeed(accountId);
    if (isOfOneCall(outcome)) return;
    const isTrial = this.trial?.attempt === attempt;
    this.failures += 1;
    // Calls that started before it opened add nothing. The trial opens it again.
    if (this.openedMs !== null && !isTrial) return;
    if (this.failing.size < MAX_ACCOUNTS) this.failing.add(accountId);
    if (isTrial) this.trial = null;
    else if (this.failures < this.options.failuresToOpen) return;
    const reason = outcome.reason ?? outcome.kind;
    if (this.failing.size >= ACCOUNTS_TO_OPEN && !this.servesOthers()) this.open(reason);
    else if (!this.probing) void this.probe(accountId, reason);
  }

  /** Another account was served a moment ago, so the failing ones may be acting together. */
  private servesOthers(): boolean {
    const sinceMs = this.options.clock.elapsedMs() - this.options.openMs;
    return [...this.succeeded].some(([id, atMs]) => atMs > sinceMs && !this.failing.has(id));
  }

  private succeed(accountId: string): void {
    this.succeeded.delete(accountId);
    this.succeeded.set(accountId, this.options.clock.elapsedMs());
    if (this.succeeded.size > MAX_ACCOUNTS)
      this.succeeded.delete(this.succeeded.keys().next().value as string);
    const wasOpen = this.openedMs !== null;
    this.forget();
    this.openedMs = this.trial = null;
    if (wasOpen) this.options.onChange('closed', 'a call succeeded');
  }

  private open(reason: string): void {
    const { failures } = this;
    this.forget();
    this.failures = failures;
    this.openedMs = this.options.clock.elapsedMs();
    this.trial = null;
    this.options.onChange('open', reason);
  }

  /** Only some accounts failed. The upstream's answer to our own request shows whether it is their own fault. */
  private async probe(accountId: string, reason: string): Promise<void> {
    const probing = (this.probing = Symbol());
    const isUnhealthy = await this.options.isUnhealthy();
    // Another account failed meanwhile, or a call succeeded.
    if (this.probing !== probing) return;
    if (isUnhealthy) return this.open(reason);
    this.probing = null;
    if (this.openedMs !== null) {
      this.tried.set(accountId, this.options.clock.elapsedMs() + this.options.openMs);
    } else this.forget();
  }

  private forget(): void {
    this.failures = 0;
    this.failing.clear();
    this.tried.clear();
    this.probing = null;
  }
}
