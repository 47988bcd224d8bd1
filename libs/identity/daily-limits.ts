import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
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
  /** Each opens a checkout at a provider, and a cancelled one makes room for the next. */
  'new orders': 200,
  /** Of keys, webhooks, billing details and the account together. */
  'changes of settings': 1_000,
  'downloads of archives': 100,
  'test events of webhooks': 500,
  'replays of webhook deliveries': 1_000,
  /** Each sends up to ten thousand. */
  'bulk replays of webhook deliveries': 50,
  /** Those that succeed. A reset of the password forgets them, so that nobody is locked out by them. */
  'sign-ins': 1_000,
  /** Each also sends a mail. */
  'changes of password and second factor': 20,
  /** Mails that an account can cause at will by its settings and endpoints. The console always shows the same facts. */
  'mails about disabled webhooks': 20,
  'mails about a low balance': 20,
} as const;
const DAY_MS = 86_400_000;

/** Counts what an account does, in the transaction that does it. @throws ApiError too_many_attempts */
export async function countDaily(
  client: pg.Pool | pg.ClientBase,
  accountId: string,
  what: keyof typeof MOST,
): Promise<void> {
  const most = MOST[what];
  await new AttemptsStore(client).count({
    subject: subjectOf(accountId, what),
    limit: { most, windowMs: DAY_MS },
    refusal: `An account can make at most ${most} ${what} in 24 hours.`,
  });
}

/**
 * Does work that counts against a daily limit. Returns false if the limit was reached: the work stopped there, so in a transaction
 * count first, or roll back.
 */
export async function isWithinDaily(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'too_many_attempts') return false;
    throw error;
  }
}

export async function forgetDaily(
  client: pg.ClientBase,
  accountId: string,
  what: keyof typeof MOST,
): Promise<void> {
  await new AttemptsStore(client).forget(subjectOf(accountId, what));
}

function subjectOf(accountId: string, what: keyof typeof MOST): string {
  return `${what} ${accountId}`;
}
