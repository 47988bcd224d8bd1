import type pg from 'pg';
import { NamedError } from '#platform/errors.js';

/**
 * When a posting is effective. A fact belongs to the time at which it happened. If it arrives when the books of that
 * time are closed (or just closing), it is posted now, with a link to the period that it missed.
 */
export interface Placement {
  /** Null: now. Text, as PostgreSQL reads it. */
  readonly effectiveAt: string | null;
  readonly late: { readonly periodId: string; readonly happenedAt: string } | null;
}

/** The time of a fact is impossible. Nothing was written. */
export class EffectiveTimeRefused extends NamedError {}

/** The clocks of two machines may differ by this much. Anything later is an error. */
const CLOCK_SLACK = '5 minutes';
/** The value date of a transfer is the start of a day, and the account may have been opened later that day. */
const ACCOUNT_SLACK = '1 day';

const NOW: Placement = { effectiveAt: null, late: null };

/**
 * Decides when a fact is effective, by the periods that the client's transaction sees. If a close begins afterwards,
 * the database refuses the posting, and the transaction runs again.
 * @param happenedAt ISO 8601; null: now
 * @throws EffectiveTimeRefused for a future time, or one before the account was opened
 */
export async function placeInTime(
  client: pg.ClientBase,
  { happenedAt, accountId }: { happenedAt: string | null; accountId: string | null },
): Promise<Placement> {
  if (happenedAt === null) return NOW;
  const { rows } = await client.query<PlaceRow>(
    `SELECT fact.at::text AS at, NOT isfinite(fact.at) OR fact.at > clock_timestamp() + $3::interval AS "isFuture",
       coalesce(fact.at < a.created_at - $4::interval, false) AS "isBeforeAccount", fact.at > clock_timestamp() AS "isNow",
       p.id::text AS "periodId"
     FROM (SELECT $1::timestamptz AS at) AS fact
     LEFT JOIN accounts a ON a.id = $2
     LEFT JOIN ledger_periods p ON p.state <> 'abandoned' AND p.starts_at <= fact.at AND p.ends_at > fact.at`,
    [happenedAt, accountId, CLOCK_SLACK, ACCOUNT_SLACK],
  );
  const { at, isFuture, isBeforeAccount, isNow, periodId } = rows[0] as PlaceRow;
  if (isFuture)
    throw new EffectiveTimeRefused(`${happenedAt} is in the future: nothing can have happened then.`);
  if (isBeforeAccount) throw new EffectiveTimeRefused(`${happenedAt} is before the account was opened.`);
  if (periodId !== null) return { effectiveAt: null, late: { periodId, happenedAt: at } };
  return isNow ? NOW : { effectiveAt: at, late: null };
}

interface PlaceRow {
  at: string;
  isFuture: boolean;
  isBeforeAccount: boolean;
  isNow: boolean;
  periodId: string | null;
}

/** Records the period that a late posting missed, in its transaction. */
export async function linkLatePosting(
  client: pg.ClientBase,
  transactionId: bigint,
  { periodId, happenedAt }: NonNullable<Placement['late']>,
): Promise<void> {
  await client.query(
    'INSERT INTO late_postings (transaction_id, period_id, happened_at) VALUES ($1, $2, $3::timestamptz)',
    [transactionId, periodId, happenedAt],
  );
}

/**
 * A time that a machine reported, limited to between the earliest possible time and now: received money is never refused because
 * of it.
 */
export function heldBetween(reported: string | null, earliest: Date, now: Date): string | null {
  if (reported === null) return null;
  const ms = Date.parse(reported);
  if (Number.isNaN(ms) || ms >= now.getTime()) return null;
  return new Date(Math.max(ms, Math.min(earliest.getTime(), now.getTime()))).toISOString();
}
