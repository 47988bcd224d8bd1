import type pg from 'pg';
import { type DataSource, IsNull } from 'typeorm';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { lockAccount } from '#identity/account.store.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import type { Actor } from '#identity/role.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { newId } from '#platform/ids.js';
import { realChanges } from '#platform/real-changes.js';
import { placeOf, type SecretBox } from '#platform/sealed-secret.js';
import { endPending, switchOff } from './delivery.queue.js';
import { checkEndpointUrl } from './endpoint-url.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { type EventType, financeEventTypes } from './webhook-event.js';
import type { WebhooksConfig } from './webhooks.config.js';

/** More would only send the same events to the same owner more often. */
const MAX_ENDPOINTS = 10;

/** Who asks, and the request id for the audit log. */
export interface Asker {
  actor: Actor;
  requestId: string;
}

export interface EndpointChange {
  url?: string | undefined;
  description?: string | undefined;
  events?: EventType[] | undefined;
  enabled?: boolean | undefined;
}

/** While two secrets sign. */
export const signingSecrets = ['current', 'previous'] as const;
type SigningSecret = (typeof signingSecrets)[number];

/** The webhook endpoints of accounts. Another account's endpoints look as if they did not exist. */
export class EndpointService {
  constructor(
    private readonly source: DataSource,
    private readonly config: { readonly webhooks: WebhooksConfig; readonly secrets: SecretBox },
    private readonly clock: Clock,
  ) {}

  async list(accountId: string): Promise<WebhookEndpoint[]> {
    const endpoints = await this.source
      .getRepository(WebhookEndpoint)
      .find({ where: { accountId, deletedAt: IsNull() }, order: { id: 'DESC' } });
    return endpoints.map((endpoint) => this.asOfNow(endpoint));
  }

  /** @throws ApiError not_found */
  async find(accountId: string, endpointId: string): Promise<WebhookEndpoint> {
    const where = { id: endpointId, accountId, deletedAt: IsNull() };
    return this.asOfNow(
      (await this.source.getRepository(WebhookEndpoint).findOneBy(where)) ?? refuseUnknown(),
    );
  }

  /**
   * Creates an endpoint. Only this answer contains the secret, which is stored sealed.
   * @throws ApiError for a wrong address or event, one endpoint too many, or too_many_attempts
   */
  create(
    asker: Asker,
    wanted: { url: string; description: string; events: EventType[] },
  ): Promise<WebhookEndpoint> {
    const url = checkEndpointUrl(wanted.url, this.config.webhooks.allowPrivate);
    refuseForeignEvents(asker.actor, wanted.events);
    const { accountId } = asker.actor;
    return inEntityTransaction(this.source, async (transaction) => {
      const { entities } = transaction;
      await refuseOneTooMany(transaction, accountId);
      const [id, secret] = [newId(), newWebhookSecret()];
      const endpoint = entities.create(WebhookEndpoint, {
        ...wanted,
        url,
        id,
        accountId,
        secret: this.config.secrets.seal(secret, placeOf.webhook(id)),
        ...UNUSED,
      });
      await entities.insert(WebhookEndpoint, endpoint);
      await this.note(transaction, asker, { action: 'webhook.created', endpoint, after: shown(endpoint) });
      return { ...endpoint, secret };
    });
  }

  /**
   * A new address has not failed yet.
   * @throws ApiError not_found, too_many_attempts, or for a wrong address or event
   */
  change(asker: Asker, endpointId: string, change: EndpointChange): Promise<WebhookEndpoint> {
    refuseForeignEvents(asker.actor, change.events ?? []);
    const url = change.url && checkEndpointUrl(change.url, this.config.webhooks.allowPrivate);
    return this.locked(asker, endpointId, async (transaction, endpoint) => {
      const { entities, client } = transaction;
      const before = shown(endpoint);
      const current: EndpointChange = { ...endpoint, enabled: endpoint.disabledAt === null };
      const wanted = realChanges(current, { ...change, url });
      if (Object.keys(wanted).length === 0) return this.asOfNow(endpoint);
      const { enabled, ...fields } = wanted;
      const failures = fields.url === undefined ? {} : { failingSince: null };
      if (Object.keys(fields).length > 0)
        await entities.update(WebhookEndpoint, { id: endpointId }, { ...fields, ...failures });
      if (enabled === false) await switchOff(client, endpointId, 'owner');
      if (enabled === true) {
        const on = { disabledAt: null, disabledReason: null, failingSince: null };
        await entities.update(WebhookEndpoint, { id: endpointId }, on);
      }
      const after = await entities.findOneByOrFail(WebhookEndpoint, { id: endpointId });
      await this.note(transaction, asker, {
        action: 'webhook.changed',
        endpoint,
        before,
        after: shown(after),
      });
      return this.asOfNow(after);
    });
  }

  /** @throws ApiError not_found */
  remove(asker: Asker, endpointId: string): Promise<void> {
    return this.locked(asker, endpointId, async (transaction, endpoint) => {
      const { entities, client } = transaction;
      await entities.update(WebhookEndpoint, { id: endpointId }, { deletedAt: new Date(this.clock.nowMs()) });
      await endPending(client, endpointId);
      await this.note(transaction, asker, { action: 'webhook.deleted', endpoint, before: shown(endpoint) });
    });
  }

  /**
   * Replaces the secret. The previous one keeps signing for a while. Two sign at a time: if there are two already, only its
   * owner knows which of them the receiver has, and says so.
   * @throws ApiError not_found, too_many_attempts, conflict if two sign and `receiverHas` is missing
   */
  rotateSecret(asker: Asker, endpointId: string, receiverHas?: SigningSecret): Promise<WebhookEndpoint> {
    return this.locked(asker, endpointId, async (transaction, endpoint) => {
      const [secret, nowMs] = [newWebhookSecret(), this.clock.nowMs()];
      const { previousSecret, previousSecretUntil: until } = this.asOfNow(endpoint);
      const doBothSign = until !== null;
      if (doBothSign && receiverHas === undefined) throw bothSign(until);
      const change = {
        secret: this.config.secrets.seal(secret, placeOf.webhook(endpointId)),
        previousSecret: doBothSign && receiverHas === 'previous' ? previousSecret : endpoint.secret,
        previousSecretUntil: new Date(nowMs + this.config.webhooks.secretOverlapMs),
      };
      await transaction.entities.update(WebhookEndpoint, { id: endpointId }, change);
      await this.note(transaction, asker, { action: 'webhook.secret_rotated', endpoint });
      return { ...endpoint, ...change, secret };
    });
  }

  /** The time until which two secrets sign is kept after it has passed. Whoever reads it may have another clock. */
  private asOfNow(endpoint: WebhookEndpoint): WebhookEndpoint {
    const { previousSecretUntil: until } = endpoint;
    const doBothSign = until !== null && until.getTime() > this.clock.nowMs();
    return doBothSign ? endpoint : { ...endpoint, previousSecretUntil: null };
  }

  /** Runs `work` on an endpoint of the caller's account, under its lock. @throws ApiError not_found */
  private locked<T>(
    { actor }: Asker,
    endpointId: string,
    work: (transaction: EntityTransaction, endpoint: WebhookEndpoint) => Promise<T>,
  ): Promise<T> {
    return inEntityTransaction(this.source, async (transaction) => {
      const endpoint = await transaction.entities.findOne(WebhookEndpoint, {
        where: { id: endpointId, accountId: actor.accountId, deletedAt: IsNull() },
        lock: { mode: 'for_no_key_update' },
      });
      return work(transaction, endpoint ?? refuseUnknown());
    });
  }

  private async note(
    { client }: { client: pg.PoolClient },
    { actor, requestId }: Asker,
    noted: { action: AuditAction; endpoint: WebhookEndpoint; before?: unknown; after?: unknown },
  ): Promise<void> {
    const { endpoint, ...values } = noted;
    const { id, accountId } = endpoint;
    // Deleting ends by itself.
    if (noted.action !== 'webhook.deleted') await countDaily(client, accountId, 'changes of settings');
    await audit(client, {
      actor: `user:${actor.userId}`,
      subject: `webhook:${id}`,
      accountId,
      ...values,
      requestId,
    });
  }
}

/** What an endpoint has not had yet. */
const UNUSED = {
  previousSecret: null,
  previousSecretUntil: null,
  disabledAt: null,
  disabledReason: null,
  failingSince: null,
  deletedAt: null,
};

/** Locks the account, so that concurrently created endpoints are counted. @throws ApiError conflict */
async function refuseOneTooMany({ entities, client }: EntityTransaction, accountId: string): Promise<void> {
  await lockAccount(client, accountId);
  const count = await entities.countBy(WebhookEndpoint, { accountId, deletedAt: IsNull() });
  if (count < MAX_ENDPOINTS) return;
  throw new ApiError('conflict', `An account can have at most ${MAX_ENDPOINTS} endpoints. Delete one first.`);
}

/** @throws ApiError forbidden for events that need a role */
function refuseForeignEvents({ roles }: Actor, events: readonly EventType[]): void {
  const foreign = roles.includes('finance')
    ? undefined
    : events.find((type) => financeEventTypes.includes(type));
  if (foreign === undefined) return;
  throw new ApiError('forbidden', `events: ${foreign} is for finance staff only.`, { param: 'events' });
}

function bothSign(until: Date): ApiError {
  const message = `The previous secret signs until ${until.toISOString()}. To replace the secret before that, send receiverHas=current or receiverHas=previous, whichever your receiver has. The other one stops signing now.`;
  return new ApiError('conflict', message, { param: 'receiverHas' });
}

/** The audit log's record of an endpoint: neither its secret nor the owner's texts, which are deleted with the account. */
function shown({ events, disabledReason }: WebhookEndpoint) {
  return { events, disabledReason };
}

export function refuseUnknown(): never {
  throw new ApiError('not_found', 'There is no such webhook endpoint.');
}
