import type pg from 'pg';
import { createHash } from 'node:crypto';
import { ApiError } from '#platform/errors.js';

/** The most attempts in a time window. The first attempt opens the window. */
export interface AttemptLimit {
  readonly most: number;
  readonly windowMs: number;
}

export interface Attempt {
  /** Whose attempts are counted, such as `sign-in email a@example.com`. */
  readonly subject: string;
  readonly limit: AttemptLimit;
  /** A sentence about the limit, if these are no attempts to sign in. */
  readonly refusal?: string;
}

const MAX_PURGED = 5_000;

/**
 * Counts attempts in the database, so that all processes share the count. An attempt is counted before it is made, so
 * concurrent ones cannot exceed the limit.
 */
export class AttemptsStore {
  constructor(private readonly pool: Pick<pg.Pool, 'query'>) {}

  /** Counts one attempt for each. @throws ApiError too_many_attempts with the time until the window ends */
  async count(...attempts: readonly Attempt[]): Promise<void> {
    for (const { subject, limit, refusal } of attempts) {
      const { rows } = await this.pool.query<{ count: number; leftSeconds: number }>({
        name: 'count-attempt',
        text: `INSERT INTO attempts AS a (subject, count, expires_at)
          VALUES ($1, 1, clock_timestamp() + $2::float8 * interval '1 millisecond')
          ON CONFLICT (subject) DO UPDATE SET
            count = CASE WHEN a.expires_at <= clock_timestamp() THEN 1 ELSE least(a.count + 1, $3 + 1) END,
            expires_at = CASE WHEN a.expires_at <= clock_timestamp() THEN excluded.expires_at ELSE a.expires_at END
          RETURNING count, ceil(extract(epoch FROM expires_at - clock_timestamp()))::integer AS "leftSeconds"`,
        values: [nameOf(subject), limit.windowMs, limit.most],
      });
      const { count, leftSeconds } = rows[0]!;
      if (count > limit.most) throw tooMany(leftSeconds, refusal);
    }
  }

  /** Forgets the attempts, because they succeeded. */
  async forget(...subjects: readonly string[]): Promise<void> {
    await this.pool.query('DELETE FROM attempts WHERE subject = ANY($1)', [subjects.map(nameOf)]);
  }

  /** Takes one attempt back, because it succeeded. Others of the same subject still count. */
  async takeBack(subject: string): Promise<void> {
    await this.pool.query('UPDATE attempts SET count = greatest(count - 1, 0) WHERE subject = $1', [
      nameOf(subject),
    ]);
  }

  /** Removes some windows that have ended. */
  async purge(): Promise<void> {
    await this.pool.query(
      `DELETE FROM attempts WHERE ctid = ANY (ARRAY(SELECT ctid FROM attempts WHERE expires_at < now()
       LIMIT ${MAX_PURGED} FOR UPDATE SKIP LOCKED))`,
    );
  }
}

function tooMany(leftSeconds: number, refusal: string | undefined): ApiError {
  const retryAfterSeconds = Math.max(1, leftSeconds);
  const again = `Try again in ${inWords(retryAfterSeconds)}`;
  const message =
    refusal === undefined ? `Too many attempts. ${again}, or reset the password.` : `${refusal} ${again}.`;
  return new ApiError('too_many_attempts', message, { retryAfterSeconds });
}

function inWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes === 1) return 'a minute';
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

/** The table does not need to reveal who tried: email addresses and network addresses are stored as hashes. */
function nameOf(subject: string): string {
  return createHash('sha256').update(subject).digest('base64url');
}
