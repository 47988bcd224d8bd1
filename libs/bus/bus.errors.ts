/** No answer or acknowledgement in time. The outcome is unknown: send it again with the same ID, and never guess. */
export class BusTimeout extends Error {
  constructor(topic: string, timeoutMs: number) {
    super(`no answer on ${topic} within ${timeoutMs} ms`);
    this.name = 'BusTimeout';
  }
}

/** The bus is closed, full or unreachable. The message may still have been received, as after any lost connection. */
export class BusUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BusUnavailable';
  }
}

/** The handler failed permanently: sending it again would fail too. */
export class BusRejected extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'BusRejected';
  }
}

/** A message that does not match its topic's declaration. Never retried. */
export class InvalidMessage extends Error {
  constructor(topic: string, rule: string) {
    super(`not a message of ${topic}: ${rule}`);
    this.name = 'InvalidMessage';
  }
}

/** Handlers and topics do not match: a bug, found at startup. */
export class BusWiringError extends Error {
  constructor(faults: readonly string[]) {
    super(`The bus is not wired up:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
    this.name = 'BusWiringError';
  }
}
