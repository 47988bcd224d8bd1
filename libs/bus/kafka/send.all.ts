import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../backoff.js';

/** A sender fails after about a second, because a client is waiting. */
const BACKOFF = { initialMs: 50, maxMs: 1_000 };
const MAX_ATTEMPTS = 5;

/** For the producer that sends. */
export const NO_RETRIES = { retries: 0 };

/**
 * Sends a batch until one attempt has delivered all of its messages. kafkajs 2.2.4 repeats only what went to brokers that did
 * not answer. If a partition has moved from one of them to a broker that did, it takes its messages for sent, and they are
 * lost. So its own retries are off, and all is sent again: consumers tolerate duplicates.
 * @param send one attempt, by a producer with `NO_RETRIES`
 */
export async function sendAll(send: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send();
      return;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || isFinal(error)) throw error;
      await pause(backoffMs(attempt, BACKOFF));
    }
  }
}

/** An error that would come back, such as that of a message which is too large. */
function isFinal(error: unknown): boolean {
  const { name, retriable } = error as { name?: string; retriable?: boolean };
  return retriable === false && name !== 'KafkaJSNumberOfRetriesExceeded';
}
