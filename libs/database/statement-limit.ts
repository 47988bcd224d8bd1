import type pg from 'pg';
import type { PooledClient } from './pooled-client.js';

/** What the way to the server and back may take beyond a statement, which the server itself cancels at its limit. */
const ANSWER_GRACE_MS = 5_000;

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
