import pg from 'pg';

/** What the way to the server and back may take beyond a statement, which the server itself cancels at its limit. */
const ANSWER_GRACE_MS = 5_000;

type Answer = (error?: Error | null, result?: unknown) => void;

/** Without its overloads. */
const { query: send } = pg.Client.prototype as unknown as {
  query: (this: pg.Client, ...given: unknown[]) => unknown;
};

/**
 * A connection that is dropped when a query waits too long for its answer.
 *
 * The driver can do that too, but writes `query.callback = () => …` for each query. V8 puts a function that is assigned
 * to a property into the old generation at once, where it keeps everything about its query until the next full
 * collection. So here the driver gets its callbacks as arguments.
 */
export class PooledClient extends pg.Client {
  /** Milliseconds; 0: for ever. */
  answerLimitMs: number;

  constructor(config?: pg.ClientConfig) {
    super(config);
    const { connectionParameters: used } = this as unknown as { connectionParameters: pg.ClientConfig };
    this.answerLimitMs = used.query_timeout || 0;
    used.query_timeout = 0;
  }

  override query(...given: unknown[]): never {
    return this.ask(given) as never;
  }

  private ask(given: unknown[]): unknown {
    const [query] = given;
    const last = given.at(-1);
    if (query instanceof pg.Query) {
      const submitted = query as unknown as { callback: Answer };
      submitted.callback = this.inTime(submitted.callback);
      return send.call(this, query);
    }
    if (typeof last === 'function')
      return send.call(this, ...given.slice(0, -1), this.inTime(last as Answer));
    return new Promise((resolve, reject) => {
      const answer: Answer = (error, result) => (error ? reject(error) : resolve(result));
      send.call(this, ...given, this.inTime(answer));
    }).catch((error: Error) => {
      // Otherwise the stack leads to the socket instead of the caller.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  /** As the connection ends, the answer is called again, which its receivers ignore. */
  private inTime(answer: Answer): Answer {
    if (this.answerLimitMs === 0) return answer;
    const timer = setTimeout(() => {
      answer(new Error('Query read timeout'));
      this.connection.stream.destroy();
    }, this.answerLimitMs);
    return (error, result) => {
      clearTimeout(timer);
      answer(error, result);
    };
  }
}

/**
 * After how many ms a client gives a statement up whose server keeps silent: a network that loses everything, or a server that
 * hangs, would otherwise keep the connection for ever. The outcome is unknown then. 0, for ever, of a limit of 0.
 */
export function answerLimitMs(statementLimitMs: number): number {
  return statementLimitMs === 0 ? 0 : Math.ceil(statementLimitMs) + ANSWER_GRACE_MS;
}

/**
 * Lets each statement of the transaction that is open take this many ms, 0 for as long as it likes. A pool forgets it when it
 * hands the connection out again.
 */
export async function limitStatements(client: pg.ClientBase, limitMs: number): Promise<void> {
  setAnswerLimit(client, answerLimitMs(limitMs));
  await client.query(`SET LOCAL statement_timeout = ${Math.ceil(limitMs)}`);
}

/** For the statements that follow on a connection. */
export function setAnswerLimit(client: pg.ClientBase, ms: number): void {
  (client as PooledClient).answerLimitMs = ms;
}
