import { CodedError, NamedError } from '#platform/errors.js';

/** No answer or acknowledgement in time. The outcome is unknown: send it again with the same ID, and never guess. */
export class BusTimeout extends NamedError {
  constructor(topic: string, timeoutMs: number) {
    super(`no answer on ${topic} within ${timeoutMs} ms`);
  }
}

/** The bus is closed, full or unreachable. The message may still have been received, as after any lost connection. */
export class BusUnavailable extends NamedError {}

/** The handler failed permanently: sending it again would fail too. */
export class BusRejected extends CodedError<string> {}

/** A message that does not match its topic's declaration. Never retried. */
export class InvalidMessage extends NamedError {
  constructor(topic: string, rule: string) {
    super(`not a message of ${topic}: ${rule}`);
  }
}

/** Handlers and topics do not match: a bug, found at startup. */
export class BusWiringError extends NamedError {
  constructor(faults: readonly string[]) {
    super(`The bus is not wired up:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
  }
}
