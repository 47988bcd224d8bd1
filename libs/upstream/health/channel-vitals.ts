import type { BreakerState, CallFailure } from './breaker.js';
import type { CallFigures } from './call-times.js';

/** How a model of a channel is, as this program met it. */
export interface ChannelVitals extends CallFigures {
  channelId: string;
  model: string | null;
  state: BreakerState;
  inFlight: number;
  /** Since a call succeeded. */
  failures: number;
  openedAtMs: number | null;
  lastFailure: CallFailure | null;
}
