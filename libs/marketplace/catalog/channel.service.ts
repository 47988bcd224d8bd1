import { type DataSource, type EntityManager, MoreThan } from 'typeorm';
import type pg from 'pg';
import { isIP } from 'node:net';
import { keyMark } from '#catalog/catalog.js';
import { requireKnown, requireModels } from '#catalog/known-names.js';
import { type ChannelProtocol, keyFormOf } from '#upstream/adapters.js';
import { ApiError } from '#platform/errors.js';
import { isWebhookSecret } from '#platform/http/webhook-signature.js';
import { placeOf, type SecretBox } from '#platform/sealed-secret.js';
import { isPublicAddress } from '#upstream/public-address.js';
import type { DoneBy } from '../prices/proposal.service.js';
import type { CatalogChanges } from './catalog.changes.js';
import { ChannelRow } from './channel.entity.js';
import { defined } from './model.service.js';

export interface ChannelChange {
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

export interface NewChannel extends ChannelChange {
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

/** The upstreams of the catalog. */
export class ChannelService {
  constructor(
    private readonly source: DataSource,
    private readonly changes: CatalogChanges,
    private readonly secrets: SecretBox,
  ) {}

  async list(query: { limit: number; after: string }): Promise<ShownChannel[]> {
    const rows = await this.source.manager.find(ChannelRow, {
      where: { id: MoreThan(query.after) },
      order: { id: 'ASC' },
      take: query.limit,
    });
    return this.shown(this.source.manager, rows);
  }

  /** @throws ApiError `not_found` */
  async find(id: string): Promise<ShownChannel> {
    const row = await this.source.manager.findOneBy(ChannelRow, { id });
    if (!row) throw notFound(id);
    return (await this.shown(this.source.manager, [row]))[0]!;
  }

  /** @throws ApiError for a forbidden address, and for unknown models and groups */
  async create(wanted: NewChannel, by: DoneBy): Promise<ShownChannel> {
    const { id, protocol, models = {}, groups = [] } = wanted;
    const { apiKeys, webhookSecret = null, ...rest } = wanted;
    const fields = { ...NOT_GIVEN, ...defined(fieldsOf(rest)) };
    const baseUrl = checkedBaseUrl(wanted.baseUrl, fields.allowPrivateAddress);
    await this.changes.make(by, async ({ entities, client }) => {
      const secrets = {
        ...this.keysOf(wanted, apiKeys),
        webhookSecret: this.sealedSecret(id, webhookSecret),
      };
      const row = { id, protocol, ...fields, baseUrl, ...secrets };
      await entities.insert(ChannelRow, row);
      await setModels(client, id, models);
      await setGroups(client, id, groups);
      const after = { ...this.masked(row), models, groups };
      return { result: null, action: 'channel.created', subject: `channel:${id}`, after };
    });
    return this.find(id);
  }

  /**
   * Changes the given fields. A new origin needs the keys again, so that nobody can send keys that they cannot read to
   * another address.
   * @throws ApiError as for a new one, and `not_found`
   */
  async change(id: string, wanted: ChannelChange, by: DoneBy): Promise<ShownChannel> {
    await this.changes.make(by, async ({ entities, client }) => {
      const row = await entities.findOneBy(ChannelRow, { id });
      if (!row) throw notFound(id);
      const before = (await this.shown(entities, [row]))[0]!;
      Object.assign(row, defined(fieldsOf(wanted)));
      row.baseUrl = checkedBaseUrl(wanted.baseUrl ?? row.baseUrl, row.allowPrivateAddress);
      if (new URL(row.baseUrl).origin !== new URL(before.baseUrl).origin && !wanted.apiKeys) {
        throw new ApiError('invalid_value', 'apiKeys: to change the address, enter the keys again.', {
          param: 'apiKeys',
        });
      }
      if (wanted.apiKeys) Object.assign(row, this.keysOf(row, wanted.apiKeys));
      if (wanted.webhookSecret !== undefined) row.webhookSecret = this.sealedSecret(id, wanted.webhookSecret);
      await entities.save(row);
      if (wanted.models) await setModels(client, id, wanted.models);
      if (wanted.groups) await setGroups(client, id, wanted.groups);
      const { models = before.models, groups = before.groups } = wanted;
      const after = { ...this.masked(row), models, groups };
      return { result: null, action: 'channel.changed', subject: `channel:${id}`, before, after };
    });
    return this.find(id);
  }

  /** As stored: sealed for this channel. @throws ApiError */
  private keysOf(
    { id, protocol }: Pick<ChannelRow, 'id' | 'protocol'>,
    keys: readonly string[],
  ): Pick<ChannelRow, 'apiKey' | 'furtherApiKeys'> {
    const written = keys.map((key) => keptKey(protocol, key));
    const [apiKey = '', ...furtherApiKeys] = written.map((key) =>
      this.secrets.seal(key, placeOf.channel(id)),
    );
    return { apiKey, furtherApiKeys };
  }

  /** @throws ApiError */
  private sealedSecret(id: string, secret: string | null): string | null {
    if (secret === null) return null;
    if (!isWebhookSecret(secret)) {
      const message = 'webhookSecret: must be whsec_ and the secret in base64.';
      throw new ApiError('invalid_value', message, { param: 'webhookSecret' });
    }
    return this.secrets.seal(secret, placeOf.channel(id));
  }

  private markOf(id: string, stored: string): string {
    try {
      return keyMark({ apiKey: this.secrets.open(stored, placeOf.channel(id)) });
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
      `SELECT channel_id AS channel, group_name AS "group" FROM channel_groups WHERE channel_id = ANY ($1) ORDER BY 1, 2`,
      [ids],
    );
    return rows.map((row) => ({
      ...this.masked(row),
      models: Object.fromEntries(
        models.filter(({ channel }) => channel === row.id).map(({ model, upstream }) => [model, upstream]),
      ),
      groups: groups.filter(({ channel }) => channel === row.id).map(({ group }) => group),
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
  if (fault) throw new ApiError('invalid_value', `apiKeys: ${fault}.`, { param: 'apiKeys' });
  return form.kept(key);
}

function fieldsOf(wanted: ChannelChange) {
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
  if (fault) throw new ApiError('invalid_value', `baseUrl: ${fault}.`, { param: 'baseUrl' });
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

async function setModels(
  client: pg.ClientBase,
  channel: string,
  models: Readonly<Record<string, string>>,
): Promise<void> {
  const ours = Object.keys(models);
  await requireModels(client, ours);
  await client.query('DELETE FROM channel_models WHERE channel_id = $1 AND model_id <> ALL ($2::text[])', [
    channel,
    ours,
  ]);
  await client.query(
    `INSERT INTO channel_models (channel_id, model_id, upstream_model)
     SELECT $1, m.ours, m.theirs FROM unnest($2::text[], $3::text[]) AS m (ours, theirs)
     ON CONFLICT (channel_id, model_id) DO UPDATE SET upstream_model = excluded.upstream_model`,
    [channel, ours, Object.values(models)],
  );
}

async function setGroups(client: pg.ClientBase, channel: string, groups: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM groups WHERE name = ANY ($1::text[])',
    [groups],
  );
  requireKnown(groups, new Set(rows.map(({ name }) => name)), { param: 'groups', what: 'group' });
  await client.query('DELETE FROM channel_groups WHERE channel_id = $1 AND group_name <> ALL ($2::text[])', [
    channel,
    groups,
  ]);
  await client.query(
    `INSERT INTO channel_groups (channel_id, group_name) SELECT $1, g FROM unnest($2::text[]) AS g ON CONFLICT DO NOTHING`,
    [channel, groups],
  );
}
