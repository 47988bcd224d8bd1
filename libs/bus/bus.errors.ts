/** No answer, or no acknowledgement, in time: the outcome is unknown, so ask again with the same id and never guess. */
export class BusTimeout extends Error {
  constructor(topic: string, timeoutMs: number) {
    super(`no answer on ${topic} within ${timeoutMs} ms`);
    this.name = 'BusTimeout';
  }
}

/** The bus is closed, full or out of reach. The message may still have been taken, as after any lost connection. */
export class BusUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BusUnavailable';
  }
}

/** The handler could not do its work, for good: asking again would end the same way. */
export class BusRejected extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'BusRejected';
  }
}

/** A message that does not fit its topic's declaration: never worth a retry. */
export class InvalidMessage extends Error {
  constructor(topic: string, rule: string) {
    super(`not a message of ${topic}: ${rule}`);
    this.name = 'InvalidMessage';
  }
}

/** Handlers and topics do not fit together: a fault of the program, found at its start. */
export class BusWiringError extends Error {
  constructor(faults: readonly string[]) {
    super(`The bus is not wired up:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
    this.name = 'BusWiringError';
  }
}
