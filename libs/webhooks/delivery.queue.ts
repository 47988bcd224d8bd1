import type pg from 'pg';
import { emailsOfAccount } from '#identity/account.store.js';
import { inTransaction } from '#database/database.js';
import { countDaily, isWithinDaily } from '#identity/daily-limits.js';
import { IS_STAFF } from '#identity/staff.js';
import { newId } from '#platform/ids.js';
import { queueMail } from '#mail/mail.outbox.js';
import { claimDue, type DueDelivery, type InProgress, type MostAtOnce } from './due-deliveries.js';
import type { DisabledReason } from './webhook-endpoint.entity.js';
import { type AccountEvent, webhookBody } from './webhook-event.js';
import type { WebhooksConfig } from './webhooks.config.js';

/** The outcome of an attempt. */
export interface DeliveryAttempt {
  startedAt: Date;
  durationMs: number;
  /** Null without an answer. */
  status: number | null;
  error: string | null;
  /** The beginning of the answer. */
  answer: string | null;
}

/** An endpoint that was disabled because of its failures. */
export interface SwitchedOff {
  endpointId: string;
  accountId: string;
  url: string;
  reason: DisabledReason;
}

/** Events of accounts whose endpoints subscribe to them. Events older than the endpoint or the log are left out. */
const WANTED = `
SELECT event.position::int AS position, e.id AS "endpointId"
FROM unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS event (account_id, type, at, position)
JOIN webhook_endpoints e ON e.account_id = event.account_id AND event.type = ANY (e.events)
  AND e.deleted_at IS NULL AND e.disabled_at IS NULL
WHERE event.at > e.created_at AND event.at > now() - $4::float8 * interval '1 millisecond'`;

const ADD = `
INSERT INTO webhook_deliveries (id, endpoint_id, account_id, event_id, event_type, body, traceparent, give_up_at)
SELECT *, now() + $8::float8 * interval '1 millisecond'
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
ON CONFLICT (endpoint_id, event_id) DO NOTHING`;

/** The attempts of a delivery that stay in the log, which shows them all at once. */
const MAX_LOGGED = 100;

/** If the next attempt would be too late, the delivery has failed. A lost lease decides nothing. */
const AFTER_FAILURE = `
UPDATE webhook_deliveries SET lease_token = NULL,
  next_attempt_at = now() + $3::float8 * interval '1 millisecond',
  state = CASE WHEN now() + $3::float8 * interval '1 millisecond' > give_up_at THEN 'failed' ELSE 'pending' END,
  ended_at = CASE WHEN now() + $3::float8 * interval '1 millisecond' > give_up_at THEN now() END
WHERE id = $1 AND lease_token = $2 AND state = 'pending'`;

/** Events to deliver to accounts, and the state of their deliveries. */
export class DeliveryQueue {
  constructor(
    private readonly pool: pg.Pool,
    private readonly config: WebhooksConfig,
  ) {}

  /** Queues events for the subscribed endpoints, each once. @returns the most deliveries that can result */
  async add(events: readonly AccountEvent[]): Promise<number> {
    const wanted = await this.wanted(events);
    if (wanted.length === 0) return 0;
    await this.pool.query(ADD, [
      wanted.map(() => newId()),
      wanted.map(({ endpointId }) => endpointId),
      wanted.map(({ event }) => event.accountId),
      wanted.map(({ event }) => event.id),
      wanted.map(({ event }) => event.type),
      wanted.map(({ event }) => webhookBody(event)),
      wanted.map(({ event }) => event.traceparent ?? null),
      this.config.giveUpMs,
    ]);
    return wanted.length;
  }

  /** Each event once for every endpoint that subscribes to it. */
  private async wanted(
    events: readonly AccountEvent[],
  ): Promise<{ endpointId: string; event: AccountEvent }[]> {
    const { rows } = await this.pool.query<{ position: number; endpointId: string }>({
      name: 'wanted-events',
      text: WANTED,
      values: [
        events.map(({ accountId }) => accountId),
        events.map(({ type }) => type),
        events.map(({ at }) => at),
        this.config.logMs,
      ],
    });
    return rows.map(({ position, endpointId }) => ({
      endpointId,
      event: events[position - 1] as AccountEvent,
    }));
  }

  /** Accounts of finance staff that have an endpoint. They receive events of the installation as long as they have the role. */
  async financeAccounts(): Promise<string[]> {
    const { rows } = await this.pool.query<{ accountId: string }>(
      `SELECT DISTINCT u.account_id AS "accountId" FROM users u JOIN webhook_endpoints e ON e.account_id = u.account_id
       WHERE 'finance' = ANY (u.roles) AND u.${IS_STAFF} AND u.disabled_at IS NULL AND e.deleted_at IS NULL AND e.disabled_at IS NULL`,
    );
    return rows.map(({ accountId }) => accountId);
  }

  /** Claims due deliveries, under a lease that outlasts an attempt. */
  async claim(most: MostAtOnce, inProgress: readonly InProgress[]): Promise<DueDelivery[]> {
    return claimDue(this.pool, most, { inProgress, leaseMs: this.config.timeoutMs * 2 + 5_000 });
  }

  /** Records a successful attempt. */
  async succeeded(delivery: DueDelivery, attempt: DeliveryAttempt): Promise<void> {
    await inTransaction(this.pool, async (client) => {
      await client.query(
        `UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1 AND url = $2 AND failing_since IS NOT NULL`,
        [delivery.endpointId, delivery.url],
      );
      await client.query(
        `UPDATE webhook_deliveries SET state = 'delivered', ended_at = now(), lease_token = NULL
         WHERE id = $1 AND lease_token = $2 AND state = 'pending'`,
        [delivery.id, delivery.leaseToken],
      );
      await insertAttempt(client, delivery, attempt);
    });
  }

  /**
   * Records a failed attempt, and when the next one follows.
   * @returns the endpoint if this failure disabled it
   */
  async failed(
    delivery: DueDelivery,
    attempt: DeliveryAttempt,
    pauseMs: number,
  ): Promise<SwitchedOff | null> {
    return inTransaction(this.pool, async (client) => {
      // Locks the endpoint before its deliveries, as everywhere: disabling it ends them under its lock.
      const endpoint = await markFailing(client, delivery, this.config.disableAfterMs);
      await client.query(AFTER_FAILURE, [delivery.id, delivery.leaseToken, pauseMs]);
      await insertAttempt(client, delivery, attempt);
      const isGone = attempt.status === 410;
      if (!endpoint || endpoint.isOff || !(isGone || endpoint.isTooLong)) return null;
      const reason = isGone ? 'gone' : 'failing';
      const { endpointId, accountId, url } = delivery;
      await switchOff(client, endpointId, reason);
      await mailOwner(client, { accountId, url, reason });
      return { endpointId, accountId, url, reason };
    });
  }

  /** Ends a delivery whose endpoint was disabled before it was sent. */
  async drop(delivery: DueDelivery): Promise<void> {
    await this.pool.query(
      `UPDATE webhook_deliveries SET state = 'failed', ended_at = now(), lease_token = NULL, attempts = attempts - 1
       WHERE id = $1 AND lease_token = $2`,
      [delivery.id, delivery.leaseToken],
    );
  }
}

/** Sends the mail if the endpoint is disabled. The number per day is limited, since owners can enable an endpoint again at will. */
async function mailOwner(
  client: pg.ClientBase,
  { accountId, url, reason }: { accountId: string; url: string; reason: DisabledReason },
): Promise<void> {
  if (!(await isWithinDaily(() => countDaily(client, accountId, 'mails about disabled webhooks')))) return;
  const details = { host: new URL(url).host, reason };
  for (const to of await emailsOfAccount(client, accountId))
    await queueMail(client, { template: 'webhook_off', to, details });
}

/** Disables an endpoint and ends its pending deliveries. The caller holds the lock of its row. */
export async function switchOff(
  client: pg.ClientBase,
  endpointId: string,
  reason: DisabledReason,
): Promise<void> {
  await client.query(
    'UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = $2 WHERE id = $1 AND disabled_at IS NULL',
    [endpointId, reason],
  );
  await endPending(client, endpointId);
}

export async function endPending(client: pg.ClientBase, endpointId: string): Promise<void> {
  await client.query(
    `UPDATE webhook_deliveries SET state = 'failed', ended_at = now(), lease_token = NULL
     WHERE endpoint_id = $1 AND state = 'pending'`,
    [endpointId],
  );
}

interface FailingEndpoint {
  isTooLong: boolean;
  isOff: boolean;
}

/** Notes since when its address fails, unless it has another one by now. `isTooLong`: for longer than the limit. */
async function markFailing(
  client: pg.ClientBase,
  { endpointId, url }: DueDelivery,
  limitMs: number,
): Promise<FailingEndpoint | undefined> {
  const { rows } = await client.query<FailingEndpoint>(
    `UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, now()) WHERE id = $1 AND url = $2
     RETURNING disabled_at IS NOT NULL AS "isOff",
       failing_since < now() - $3::float8 * interval '1 millisecond' AS "isTooLong"`,
    [endpointId, url, limitMs],
  );
  return rows[0];
}

/** Logs an attempt in place of the oldest beyond the most: replays can go on as long as the log is kept. */
async function insertAttempt(
  client: pg.ClientBase,
  delivery: DueDelivery,
  attempt: DeliveryAttempt,
): Promise<void> {
  const { startedAt, durationMs, status, error, answer } = attempt;
  await client.query(
    `WITH former AS (DELETE FROM webhook_attempts WHERE delivery_id = $1 AND id <=
       (SELECT id FROM webhook_attempts WHERE delivery_id = $1 ORDER BY id DESC OFFSET $7 LIMIT 1))
     INSERT INTO webhook_attempts (delivery_id, started_at, duration_ms, status, error, answer)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [delivery.id, startedAt, durationMs, status, error, answer, MAX_LOGGED - 1],
  );
}
