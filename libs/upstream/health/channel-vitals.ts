import type { BreakerState, CallFailure } from './breaker.js';

/** How a model of a channel is, as this program met it. */
export interface ChannelVitals {
  channelId: string;
  model: string | null;
  state: BreakerState;
  inFlight: number;
  /** Since a call succeeded. */
  failures: number;
  openedAtMs: number | null;
  lastFailure: CallFailure | null;
  /** Of the last calls; null before the first. */
  p50Ms: number | null;
  p99Ms: number | null;
}
