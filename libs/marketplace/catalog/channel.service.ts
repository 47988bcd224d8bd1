import { type DataSource, type EntityManager, MoreThan } from 'typeorm';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { keyMark } from '#catalog/catalog.js';
import { type ChannelProtocol, keyFormOf } from '#upstream/adapters.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { isWebhookSecret } from '#platform/http/webhook-signature.js';
import { placeOf, type SecretBox } from '#platform/sealed-secret.js';
import { isPublicAddress } from '#upstream/public-address.js';
import { requireUnchanged } from '#platform/unchanged.js';
import type { DoneBy } from '../prices/proposal.service.js';
import type { CatalogChanges } from './catalog.changes.js';
import { type ChannelRoutes, refuseOtherUpstream } from './channel-routes.js';
import { ChannelRow } from './channel.entity.js';
import { defined } from './model.service.js';

interface ChannelSettings {
  readonly baseUrl?: string | undefined;
  /** All of its keys, replacing the previous ones; at least one. */
  readonly apiKeys?: readonly string[] | undefined;
  /** The secret of its vendor's webhooks; null for none. */
  readonly webhookSecret?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly weight?: number | undefined;
  readonly requestTimeoutMs?: number | undefined;
  readonly maxConcurrency?: number | null | undefined;
  readonly allowPrivateAddress?: boolean | undefined;
  readonly honoursIdempotency?: boolean | undefined;
  /** All of its models: ours, and the upstream's name of each. */
  readonly models?: Readonly<Record<string, string>> | undefined;
  /** All of its groups. */
  readonly groups?: readonly string[] | undefined;
}

export interface ChannelChange extends ChannelSettings {
  /** Refuses the change if one of them has changed since. */
  readonly was?: Omit<ChannelSettings, 'apiKeys' | 'webhookSecret'> | undefined;
}

export interface NewChannel extends ChannelSettings {
  readonly id: string;
  readonly protocol: ChannelProtocol;
  readonly baseUrl: string;
  readonly apiKeys: readonly string[];
}

/** A channel without its keys and secret. Each has a mark, so that its owner recognises it. */
export interface ShownChannel extends Omit<ChannelRow, 'apiKey' | 'furtherApiKeys' | 'webhookSecret'> {
  readonly keyMarks: readonly string[];
  /** Null: there is none. */
  readonly webhookSecretMark: string | null;
  readonly models: Readonly<Record<string, string>>;
  readonly groups: readonly string[];
}

/** A channel with the approval that its new models and groups wait for; null: none wait. */
export type ChannelWithApproval = ShownChannel & { readonly approvalId: string | null };

const NOT_GIVEN = {
  enabled: true,
  priority: 0,
  weight: 1,
  requestTimeoutMs: 120_000,
  maxConcurrency: null,
  allowPrivateAddress: false,
  honoursIdempotency: false,
} as const;

/** Replaces the mark of a key that SECRETS_KEY does not open. It has to be entered again. */
const UNREADABLE = 'unreadable';

export interface ChannelServiceParts {
  readonly source: DataSource;
  readonly changes: CatalogChanges;
  readonly routes: ChannelRoutes;
  readonly secrets: SecretBox;
}

/** The upstreams of the catalog. */
export class ChannelService {
  constructor(private readonly parts: ChannelServiceParts) {}

  async list(query: { limit: number; after: string }): Promise<ShownChannel[]> {
    const rows = await this.parts.source.manager.find(ChannelRow, {
      where: { id: MoreThan(query.after) },
      order: { id: 'ASC' },
      take: query.limit,
    });
    return this.shown(this.parts.source.manager, rows);
  }

  /** @throws ApiError `not_found` */
  async find(id: string): Promise<ShownChannel> {
    const row = await this.parts.source.manager.findOneBy(ChannelRow, { id });
    if (!row) throw notFound(id);
    return (await this.shown(this.parts.source.manager, [row]))[0]!;
  }

  /**
   * Once customers have paid, its models and groups wait for a second administrator.
   * @throws ApiError for a forbidden address, and for unknown models and groups
   */
  async create(wanted: NewChannel, by: DoneBy): Promise<ChannelWithApproval> {
    const { id, protocol, models = {}, groups = [] } = wanted;
    const { apiKeys, webhookSecret = null, ...rest } = wanted;
    const fields = { ...NOT_GIVEN, ...defined(fieldsOf(rest)) };
    const baseUrl = checkedBaseUrl(wanted.baseUrl, fields.allowPrivateAddress);
    const approvalId = await this.parts.changes.make(by, async (transaction) => {
      const secrets = {
        ...this.keysOf(wanted, apiKeys),
        webhookSecret: this.sealedSecret(id, webhookSecret),
      };
      const row = { id, protocol, ...fields, baseUrl, ...secrets };
      await transaction.entities.insert(ChannelRow, row);
      const set = { channel: row, before: { models: {}, groups: [] }, after: { models, groups }, by };
      const { routes, approvalId: result } = await this.parts.routes.set(transaction, set);
      const after = { ...this.masked(row), ...routes };
      return { result, action: 'channel.created', subject: `channel:${id}`, after };
    });
    return { ...(await this.find(id)), approvalId };
  }

  /**
   * Changes the given fields. A new origin needs the keys again, so that nobody can send keys that they cannot read to
   * another address. Added models and groups wait as those of a new channel do.
   * @throws ApiError as for a new one, `not_found`, `conflict` if another change came first, and `second_person_required`
   * for a base URL that is in use
   */
  async change(id: string, wanted: ChannelChange, by: DoneBy): Promise<ChannelWithApproval> {
    const approvalId = await this.parts.changes.make(by, async (transaction) => {
      const { entities, client } = transaction;
      const row = await entities.findOneBy(ChannelRow, { id });
      if (!row) throw notFound(id);
      const before = (await this.shown(entities, [row]))[0]!;
      requireUnchanged<ChannelSettings>(before, wanted);
      Object.assign(row, defined(fieldsOf(wanted)));
      row.baseUrl = checkedBaseUrl(wanted.baseUrl ?? row.baseUrl, row.allowPrivateAddress);
      if (new URL(row.baseUrl).origin !== new URL(before.baseUrl).origin && !wanted.apiKeys) {
        throw invalidField('apiKeys', 'to change the address, enter the keys again.');
      }
      if (row.baseUrl !== before.baseUrl) await refuseOtherUpstream(client, { channel: row, before, by });
      Object.assign(row, this.newSecrets(row, wanted));
      await entities.save(row);
      const { models = before.models, groups = before.groups } = wanted;
      const set = { channel: row, before, after: { models, groups }, by };
      const { routes, approvalId: result } = await this.parts.routes.set(transaction, set);
      const after = { ...this.masked(row), ...routes };
      return { result, action: 'channel.changed', subject: `channel:${id}`, before, after };
    });
    return { ...(await this.find(id)), approvalId };
  }

  /** The given ones, as stored; empty if they are those that it has. @throws ApiError */
  private newSecrets(row: ChannelRow, { apiKeys, webhookSecret }: ChannelChange): Partial<ChannelRow> {
    const given = {
      ...(apiKeys && this.keysOf(row, apiKeys)),
      ...(webhookSecret !== undefined && { webhookSecret: this.sealedSecret(row.id, webhookSecret) }),
    };
    return isDeepStrictEqual(this.masked(row), this.masked({ ...row, ...given })) ? {} : given;
  }

  /** As stored: sealed for this channel. @throws ApiError */
  private keysOf(
    { id, protocol }: Pick<ChannelRow, 'id' | 'protocol'>,
    keys: readonly string[],
  ): Pick<ChannelRow, 'apiKey' | 'furtherApiKeys'> {
    const written = keys.map((key) => keptKey(protocol, key));
    const [apiKey = '', ...furtherApiKeys] = written.map((key) =>
      this.parts.secrets.seal(key, placeOf.channel(id)),
    );
    return { apiKey, furtherApiKeys };
  }

  /** @throws ApiError */
  private sealedSecret(id: string, secret: string | null): string | null {
    if (secret === null) return null;
    if (!isWebhookSecret(secret)) {
      throw invalidField('webhookSecret', 'must be whsec_ and the secret in base64.');
    }
    return this.parts.secrets.seal(secret, placeOf.channel(id));
  }

  private markOf(id: string, stored: string): string {
    try {
      return keyMark({ apiKey: this.parts.secrets.open(stored, placeOf.channel(id)) });
    } catch {
      return UNREADABLE;
    }
  }

  private masked<T extends Pick<ChannelRow, 'id' | 'apiKey' | 'furtherApiKeys' | 'webhookSecret'>>(row: T) {
    const { apiKey: first, furtherApiKeys, webhookSecret, ...rest } = row;
    const keyMarks = [first, ...furtherApiKeys].map((stored) => this.markOf(row.id, stored));
    const webhookSecretMark = webhookSecret && this.markOf(row.id, webhookSecret);
    return { ...rest, keyMarks, webhookSecretMark };
  }

  private async shown(entities: EntityManager, rows: readonly ChannelRow[]): Promise<ShownChannel[]> {
    const ids = rows.map(({ id }) => id);
    const models: { channel: string; model: string; upstream: string }[] = await entities.query(
      `SELECT channel_id AS channel, model_id AS model, upstream_model AS upstream FROM channel_models
         WHERE channel_id = ANY ($1) ORDER BY 1, 2`,
      [ids],
    );
    const groups: { channel: string; group: string }[] = await entities.query(
      `SELECT channel_id AS channel, group_name AS "group" FROM channel_groups WHERE channel_id = ANY ($1)`,
      [ids],
    );
    return rows.map((row) => ({
      ...this.masked(row),
      models: Object.fromEntries(
        models.filter(({ channel }) => channel === row.id).map(({ model, upstream }) => [model, upstream]),
      ),
      // Sorted here: in the order of the database's collation, unchanged groups could look changed.
      groups: groups
        .filter(({ channel }) => channel === row.id)
        .map(({ group }) => group)
        .sort(),
    }));
  }
}

function notFound(id: string): ApiError {
  return new ApiError('not_found', `There is no channel ${id}.`);
}

/** @throws ApiError, which quotes no key */
function keptKey(protocol: ChannelProtocol, key: string): string {
  const form = keyFormOf(protocol);
  const fault = form.fault(key);
  if (fault) throw invalidField('apiKeys', `${fault}.`);
  return form.kept(key);
}

function fieldsOf(wanted: ChannelSettings) {
  const { enabled, priority, weight, requestTimeoutMs, maxConcurrency } = wanted;
  const { allowPrivateAddress, honoursIdempotency } = wanted;
  return {
    enabled,
    priority,
    weight,
    requestTimeoutMs,
    maxConcurrency,
    allowPrivateAddress,
    honoursIdempotency,
  };
}

/**
 * Calls carry the operator's key, so they use https to public addresses. Your own upstreams may be elsewhere.
 * @throws ApiError
 */
function checkedBaseUrl(text: string, allowPrivateAddress: boolean): string {
  const fault = baseUrlFault(text, allowPrivateAddress);
  if (fault) throw invalidField('baseUrl', `${fault}.`);
  return text.replace(/\/+$/, '');
}

function baseUrlFault(text: string, allowPrivateAddress: boolean): string | null {
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const { protocol, username, password, search, hash, hostname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https address';
  if (username || password) return 'must not hold a name or password: keys go into apiKeys';
  if (search || hash) return 'must have no query and no fragment';
  if (allowPrivateAddress) return null;
  if (protocol !== 'https:') return 'must be https, unless private addresses are allowed';
  const host = hostname.replace(/^\[|\]$/g, '');
  const isPrivate =
    isIP(host) !== 0 ? !isPublicAddress(host) : /(^|\.)(localhost|local|internal)$/.test(host);
  return isPrivate ? 'must be a public address, unless private ones are allowed' : null;
}
