import type { BreakerState, CallFailure } from './breaker.js';
import type { CallFigures } from './call-times.js';

/** The state of a channel's model, as seen by this program. */
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
