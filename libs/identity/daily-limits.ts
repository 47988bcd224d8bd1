import type pg from 'pg';
import { AttemptsStore } from './attempts.store.js';

/**
 * What costs nothing, and stays in tables that keep everything: accounts that never paid could fill them. More indicate
 * a faulty script.
 */
const MOST = {
  'new tickets': 50,
  /** Kept until the account is deleted. */
  'messages on tickets': 200,
  'new keys': 500,
  'changes of name': 20,
  /** Of keys, webhooks, billing details and the account together. */
  'changes of settings': 1_000,
  'downloads of archives': 100,
} as const;
const DAY_MS = 86_400_000;

/** Counts what an account does, in the transaction that does it. @throws ApiError too_many_attempts */
export async function countDaily(
  client: pg.ClientBase,
  accountId: string,
  what: keyof typeof MOST,
): Promise<void> {
  const most = MOST[what];
  await new AttemptsStore(client).count({
    subject: `${what} ${accountId}`,
    limit: { most, windowMs: DAY_MS },
    refusal: `An account can make at most ${most} ${what} in 24 hours.`,
  });
}
