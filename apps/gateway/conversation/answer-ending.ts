import type { UsageMeter } from '#upstream/usage-meter.js';
import type { ClientStream } from './client-stream.js';
import type { Conversation } from './conversation-request.js';

/** How an answer ended, before its client has heard of that. */
export type Ending =
  /** Complete; `last` is what the client has not got yet: its last event, or all of an answer that is not streamed. */
  | { how: 'whole'; last: Buffer | null; contentType: string }
  /** The client has gone, or did not read until the time was over, and the call to the upstream was stopped. */
  | { how: 'left' }
  /**
   * `passed`: events that went out before; `isTorn`: part of another went out, too. `isTooMuch`: the upstream did its work,
   * and it is we who do not hand it over.
   */
  | { how: 'broken'; reason: string; passed: number; isTorn: boolean; isTooMuch: boolean };

export interface AnswerRelayOptions extends Conversation {
  meter: UsageMeter;
  client: ClientStream;
  stop: AbortSignal;
  /** The client's name of the model where the upstream has another; null where they agree. */
  clientsModel: string | null;
}
