import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { lock } from '#database/locks.js';

/** A delivery to attempt now, with what that needs of its endpoint. */
export interface DueDelivery {
  id: string;
  endpointId: string;
  accountId: string;
  eventId: string;
  body: string;
  /** Including this one. */
  attempts: number;
  leaseToken: string;
  url: string;
  /** As stored, newest first. */
  secrets: string[];
  /** Disabled or deleted since, so nothing more is sent. */
  isOff: boolean;
  /** The trace of the call that caused it. */
  traceparent: string | null;
}

/** A delivery that this process attempts now. */
export type InProgress = Pick<DueDelivery, 'endpointId' | 'accountId'>;

/** How many more attempts this process may begin, and how many may be in progress: here for an account, anywhere for an endpoint. */
export interface MostAtOnce {
  further: number;
  perAccount: number;
  perEndpoint: number;
}

/**
 * Each endpoint gives a few of its oldest, less those in progress, and then each account one after the other, the one with the
 * fewest in progress first. So neither a long queue nor many slow receivers delay those of others. Endpoints are read from one
 * to the next, because reading every due delivery would let a replay of many slow down all claims.
 */
const CLAIM = `
WITH RECURSIVE waiting (endpoint_id) AS (
  SELECT min(endpoint_id) FROM webhook_deliveries WHERE state = 'pending'
  UNION ALL
  SELECT (SELECT min(d.endpoint_id) FROM webhook_deliveries d WHERE d.state = 'pending' AND d.endpoint_id > w.endpoint_id)
  FROM waiting w WHERE w.endpoint_id IS NOT NULL
), picked AS (
  SELECT picked.id, picked.next_attempt_at,
    row_number() OVER (PARTITION BY owned.account_id ORDER BY picked.next_attempt_at)
      + (SELECT count(*) FROM unnest($5::text[]) AS busy (account_id) WHERE busy.account_id = owned.account_id) AS turn
  FROM waiting JOIN webhook_endpoints owned ON owned.id = waiting.endpoint_id
  CROSS JOIN LATERAL (
    SELECT greatest((SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = owned.id AND d.state = 'pending'
        AND d.lease_token IS NOT NULL AND d.next_attempt_at > now()),
      (SELECT count(*) FROM unnest($6::text[]) AS busy (endpoint_id) WHERE busy.endpoint_id = owned.id)) AS count) AS running
  CROSS JOIN LATERAL (
    SELECT id, next_attempt_at FROM webhook_deliveries
    WHERE endpoint_id = owned.id AND state = 'pending' AND next_attempt_at <= now()
    ORDER BY next_attempt_at LIMIT greatest($3 - running.count, 0) FOR UPDATE SKIP LOCKED) AS picked
), due AS (SELECT id FROM picked WHERE turn <= $2 ORDER BY turn, next_attempt_at LIMIT $1)
UPDATE webhook_deliveries d
SET next_attempt_at = clock_timestamp() + $4::float8 * interval '1 millisecond', lease_token = gen_random_uuid(),
  attempts = d.attempts + 1
FROM due, webhook_endpoints e WHERE d.id = due.id AND e.id = d.endpoint_id
RETURNING d.id, d.endpoint_id AS "endpointId", d.account_id AS "accountId", d.event_id AS "eventId", d.body, d.attempts,
  d.lease_token AS "leaseToken", d.traceparent, e.url,
  CASE WHEN e.previous_secret_until > now() THEN ARRAY[e.secret, e.previous_secret] ELSE ARRAY[e.secret] END AS secrets,
  (e.disabled_at IS NOT NULL OR e.deleted_at IS NOT NULL) AS "isOff"`;

/** Claims deliveries for this process. Of several processes, one claims at a time, so that each counts what the others have. */
export async function claimDue(
  pool: pg.Pool,
  { further, perAccount, perEndpoint }: MostAtOnce,
  { inProgress, leaseMs }: { inProgress: readonly InProgress[]; leaseMs: number },
): Promise<DueDelivery[]> {
  const accounts = inProgress.map(({ accountId }) => accountId);
  const endpoints = inProgress.map(({ endpointId }) => endpointId);
  return inTransaction(pool, async (client) => {
    await lock(client, 'webhookClaims');
    const values = [further, perAccount, perEndpoint, leaseMs, accounts, endpoints];
    return (await client.query<DueDelivery>(CLAIM, values)).rows;
  });
}
