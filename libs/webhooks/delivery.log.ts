import type pg from 'pg';
import { z } from 'zod';
import { inTransaction } from '#database/database.js';
import { countDaily } from '#identity/daily-limits.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { type RowOf, timeView } from '#platform/http/fields.js';
import { type Page, pageFrom, readCursorId } from '#platform/http/page.js';
import type { DeliveryAttempt } from './delivery.queue.js';
import { refuseUnknown } from './endpoint.service.js';
import { webhookBody, PING } from './webhook-event.js';
import type { WebhooksConfig } from './webhooks.config.js';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

export const deliveryView = z
  .object({
    id: z.string(),
    eventId: z.string().describe('The value of the header webhook-id, the same in every attempt and replay.'),
    type: z.string(),
    state: z.enum(DELIVERY_STATES).describe('`failed`: given up, or the endpoint was disabled.'),
    attempts: z.int().describe('Attempts since it was queued or last replayed.'),
    nextAttemptAt: timeView.nullable(),
    createdAt: timeView,
    endedAt: timeView.nullable(),
    lastStatus: z.int().nullable().describe('The HTTP status of the last attempt.'),
    lastError: z.string().nullable().describe('Why the last attempt got no answer.'),
  })
  .meta({ id: 'WebhookDelivery' });

export type WebhookDelivery = RowOf<typeof deliveryView, Date>;

export const attemptView = z.object({
  startedAt: timeView,
  durationMs: z.int(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  answer: z.string().nullable().describe('The first characters of the answer.'),
});

interface OwnEndpoint {
  accountId: string;
  endpointId: string;
}

/** For trying a receiver, not for load tests. */
const PINGS_PER_MINUTE = 5;
/** The most deliveries that one request may restart. */
const MAX_REPLAYED = 10_000;

const DELIVERY = `d.id, d.event_id AS "eventId", d.event_type AS type, d.state, d.attempts,
  CASE d.state WHEN 'pending' THEN d.next_attempt_at END AS "nextAttemptAt", d.created_at AS "createdAt",
  d.ended_at AS "endedAt", last.status AS "lastStatus", last.error AS "lastError"`;
const LAST_ATTEMPT = `LEFT JOIN LATERAL (SELECT status, error FROM webhook_attempts a WHERE a.delivery_id = d.id
  ORDER BY a.id DESC LIMIT 1) AS last ON true`;

/** A replay starts over with the full time. Pending deliveries stay as they are. */
const AGAIN = `state = 'pending', attempts = 0, next_attempt_at = now(), lease_token = NULL, ended_at = NULL,
  give_up_at = now() + $2::float8 * interval '1 millisecond'`;

/** Past deliveries of an endpoint, and resending them. Every method refuses another account's endpoint as unknown. */
export class DeliveryLog {
  constructor(
    private readonly pool: pg.Pool,
    private readonly config: WebhooksConfig,
  ) {}

  async list(
    of: OwnEndpoint,
    query: { limit: number; cursor?: string | undefined; state?: string | undefined },
  ): Promise<Page<WebhookDelivery>> {
    await this.requireEndpoint(this.pool, of);
    const after = readCursorId(query.cursor);
    const { rows } = await this.pool.query<WebhookDelivery>(
      `SELECT ${DELIVERY} FROM webhook_deliveries d ${LAST_ATTEMPT}
       WHERE d.endpoint_id = $1 AND ($2::text IS NULL OR d.id < $2) AND ($3::text IS NULL OR d.state = $3)
       ORDER BY d.id DESC LIMIT $4`,
      [of.endpointId, after, query.state ?? null, query.limit + 1],
    );
    return pageFrom(rows, query.limit, ({ id }) => [id]);
  }

  async find(
    of: OwnEndpoint,
    deliveryId: string,
  ): Promise<WebhookDelivery & { body: string; log: DeliveryAttempt[] }> {
    await this.requireEndpoint(this.pool, of);
    const { rows } = await this.pool.query<WebhookDelivery & { body: string }>(
      `SELECT ${DELIVERY}, d.body FROM webhook_deliveries d ${LAST_ATTEMPT} WHERE d.id = $1 AND d.endpoint_id = $2`,
      [deliveryId, of.endpointId],
    );
    const delivery = rows[0] ?? refuseUnknownDelivery();
    const attempts = await this.pool.query<DeliveryAttempt>(
      `SELECT started_at AS "startedAt", duration_ms AS "durationMs", status, error, answer
       FROM webhook_attempts WHERE delivery_id = $1 ORDER BY id`,
      [deliveryId],
    );
    return { ...delivery, log: attempts.rows };
  }

  /** Queues a trial event. @throws ApiError conflict if the endpoint is disabled, too_many_attempts */
  async ping(of: OwnEndpoint): Promise<WebhookDelivery> {
    const deliveryId = newId();
    await inTransaction(this.pool, async (client) => {
      await this.requireEndpoint(client, of, { isOn: true });
      await refuseOnePingTooMany(client, of.endpointId);
      await countDaily(client, of.accountId, 'test events of webhooks');
      const body = webhookBody({
        type: PING,
        at: new Date().toISOString(),
        data: { endpointId: of.endpointId },
      });
      await client.query(
        `INSERT INTO webhook_deliveries (id, endpoint_id, account_id, event_id, event_type, body, give_up_at)
         VALUES ($1, $2, $3, $4, $5, $6, now() + $7::float8 * interval '1 millisecond')`,
        [deliveryId, of.endpointId, of.accountId, `ping_${deliveryId}`, PING, body, this.config.giveUpMs],
      );
    });
    return this.find(of, deliveryId);
  }

  /** Resends a delivery. @throws ApiError conflict if the endpoint is disabled, too_many_attempts */
  async replay(of: OwnEndpoint, deliveryId: string): Promise<WebhookDelivery> {
    await inTransaction(this.pool, async (client) => {
      await this.requireEndpoint(client, of, { isOn: true });
      await countDaily(client, of.accountId, 'replays of webhook deliveries');
      await client.query(
        `UPDATE webhook_deliveries SET ${AGAIN} WHERE id = $1 AND endpoint_id = $3 AND state <> 'pending'`,
        [deliveryId, this.config.giveUpMs, of.endpointId],
      );
    });
    return this.find(of, deliveryId);
  }

  /**
   * Resends what was queued since. @returns how many
   * @throws ApiError conflict if the endpoint is disabled, too_many_attempts
   */
  async replaySince(of: OwnEndpoint, since: Date, states: 'failed' | 'all'): Promise<number> {
    return inTransaction(this.pool, async (client) => {
      await this.requireEndpoint(client, of, { isOn: true });
      await countDaily(client, of.accountId, 'bulk replays of webhook deliveries');
      const { rowCount } = await client.query(
        `UPDATE webhook_deliveries SET ${AGAIN} WHERE id IN (
           SELECT id FROM webhook_deliveries
           WHERE endpoint_id = $1 AND created_at >= $3 AND (state = 'failed' OR ($4 AND state = 'delivered'))
           ORDER BY id LIMIT ${MAX_REPLAYED})`,
        [of.endpointId, this.config.giveUpMs, since, states === 'all'],
      );
      return rowCount ?? 0;
    });
  }

  /** In a transaction, the endpoint stays locked, so that it is not disabled meanwhile. */
  private async requireEndpoint(
    database: pg.Pool | pg.ClientBase,
    { accountId, endpointId }: OwnEndpoint,
    { isOn = false } = {},
  ): Promise<void> {
    const { rows } = await database.query<{ isOff: boolean }>(
      `SELECT disabled_at IS NOT NULL AS "isOff" FROM webhook_endpoints
       WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL ${isOn ? 'FOR NO KEY UPDATE' : ''}`,
      [endpointId, accountId],
    );
    if (!rows[0]) refuseUnknown();
    if (isOn && rows[0].isOff) {
      throw new ApiError('conflict', 'The endpoint is disabled. Enable it first.');
    }
  }
}

/** @throws ApiError too_many_attempts */
async function refuseOnePingTooMany(client: pg.ClientBase, endpointId: string): Promise<void> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM webhook_deliveries
     WHERE endpoint_id = $1 AND event_type = $2 AND created_at > now() - interval '1 minute'`,
    [endpointId, PING],
  );
  if ((rows[0]?.count ?? 0) < PINGS_PER_MINUTE) return;
  const message = `An endpoint can get at most ${PINGS_PER_MINUTE} pings per minute.`;
  throw new ApiError('too_many_attempts', message);
}

function refuseUnknownDelivery(): never {
  throw new ApiError('not_found', 'There is no such delivery.');
}
