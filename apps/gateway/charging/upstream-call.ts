import type { Unknown } from '#upstream/outcomes.js';

/** What the log says for `onFault`. */
export const UPSTREAM_CALL_FAULT = 'a call of an upstream broke inside the relay';

export interface UpstreamCallOptions<O> {
  /** The call is aborted after this long, milliseconds. */
  limitMs: number;
  /** Called with how the call ended. */
  onEnd: (outcome: O | Unknown) => void;
  /** Called with a fault on our side, which is not an outcome of the upstream. */
  onFault: (error: unknown) => void;
}

/**
 * Calls an upstream within a time limit, for work with a hold. Never throws: after a fault on our side it is unclear whether
 * the upstream has begun, so it counts as unknown, and the hold is resolved as for any unclear call.
 */
export async function callUpstream<O extends { kind: string }>(
  call: (signal: AbortSignal) => Promise<O>,
  { limitMs, onEnd, onFault }: UpstreamCallOptions<O>,
): Promise<O | Unknown> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  let outcome: O | Unknown;
  try {
    outcome = await call(limit.signal);
  } catch (error) {
    onFault(error);
    outcome = { kind: 'unknown', reason: 'a fault of the relay', upstreamStatus: null };
  } finally {
    clearTimeout(timer);
  }
  onEnd(outcome);
  return outcome;
}
