import type pg from 'pg';
import { DataSource, type EntityManager, IsNull, LessThan } from 'typeorm';
import { outboxInsert, outboxRow, type OutboxRelay } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { requireModels } from '#catalog/known-names.js';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import { insertKey, revokeKey } from '#identity/key.store.js';
import { NO_NAME } from '#identity/redaction.js';
import type { Actor } from '#identity/role.js';
import { lockBalance } from '#ledger/postings/posting.js';
import { formatAmount, nanos } from '#money/amount.js';
import type { Clock } from '#platform/clock.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { type Page, pageFrom, readCursorId } from '#platform/http/page.js';
import { realChanges } from '#platform/real-changes.js';
import { ApiKey } from './api-key.entity.js';

/** Settings of a key by its owner, apart from its group; null: no limit. */
export interface KeyRules {
  name: string;
  expiresAt: Date | null;
  totalLimit: bigint | null;
  monthlyLimit: bigint | null;
  allowedModels: string[] | null;
  fallbackModels: string[] | null;
  allowedIps: string[] | null;
  requestsPerMinute: number | null;
  /** Tokens per minute: the estimated input and the requested output. */
  tokensPerMinute: number | null;
  imagesPerMinute: number | null;
  maxRunningTasks: number | null;
}

export interface KeyWithSpend extends ApiKey {
  /** Nanos held in this UTC month, less what was released or refunded. */
  spentThisMonth: bigint;
  /** The same for all months. */
  spent: bigint;
}

/** Who changes a key, and in which request. */
export interface KeyChange {
  actor: Actor;
  requestId: string;
}

/** Active keys of one account. More indicate a faulty script. */
const MAX_KEYS = 200;

export interface KeyServiceParts {
  readonly source: DataSource;
  readonly relay: Pick<OutboxRelay, 'wake'>;
  readonly clock: Clock;
}

/** The API keys of an account. Every hold precedes a change of its key or sees it, whatever gateways have cached. */
export class KeyService {
  constructor(private readonly parts: KeyServiceParts) {}

  /** The active keys of an account, newest first. */
  async list(
    accountId: string,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<Page<KeyWithSpend>> {
    const after = readCursorId(page.cursor);
    const keys = await this.parts.source.manager.find(ApiKey, {
      where: { accountId, revokedAt: IsNull(), ...(after ? { id: LessThan(after) } : {}) },
      order: { id: 'DESC' },
      take: page.limit + 1,
    });
    return pageFrom(await withSpend(this.parts.source.manager, keys), page.limit, ({ id }) => [id]);
  }

  /** @throws ApiError not_found for another account's key and for a deleted one */
  async find(accountId: string, keyId: string): Promise<KeyWithSpend> {
    const key = await this.parts.source.manager.findOneBy(ApiKey, {
      id: keyId,
      accountId,
      revokedAt: IsNull(),
    });
    if (!key) throw noSuchKey();
    return (await withSpend(this.parts.source.manager, [key]))[0]!;
  }

  /**
   * The first key of an account: created if there is no working one, otherwise an existing one without the key itself.
   * Two concurrent requests create one key. @throws ApiError invalid_value, account_closing, conflict or too_many_attempts if
   * there are too many
   */
  async first(
    { actor, requestId }: KeyChange,
    { name, group }: { name: string; group: string },
  ): Promise<{ key: KeyWithSpend; apiKey: string | null }> {
    const { accountId } = actor;
    const found = await inEntityTransaction(this.parts.source, async ({ entities, client }) => {
      await lockBalance(client, accountId);
      const keyId = await workingKey(client, accountId);
      if (keyId !== null) return { keyId, apiKey: null };
      await refuseTooMany({ entities, client }, accountId);
      const created = await insertKey(client, { accountId, name, group });
      const after = describe({ name, group });
      await note(client, { actor, requestId, action: 'key.created', keyId: created.keyId, after });
      return created;
    });
    return { key: await this.find(accountId, found.keyId), apiKey: found.apiKey };
  }

  /**
   * Creates a key, which only this answer contains. @throws ApiError invalid_value, account_closing, conflict or
   * too_many_attempts if there are too many
   */
  async create(
    { actor, requestId }: KeyChange,
    { group, ...rules }: Partial<KeyRules> & { name: string; group: string },
  ): Promise<{ key: KeyWithSpend; apiKey: string }> {
    const { accountId } = actor;
    const { keyId, apiKey } = await inEntityTransaction(this.parts.source, async ({ entities, client }) => {
      await lockBalance(client, accountId);
      await refuseTooMany({ entities, client }, accountId);
      await this.check(client, rules);
      const created = await insertKey(client, { accountId, name: rules.name, group });
      await entities.update(ApiKey, created.keyId, rules);
      const after = describe({ ...rules, group });
      await note(client, { actor, requestId, action: 'key.created', keyId: created.keyId, after });
      return created;
    });
    return { key: await this.find(accountId, keyId), apiKey };
  }

  /** Changes the given settings and keeps the others. @throws ApiError not_found, invalid_value, too_many_attempts */
  async change(
    { actor, requestId }: KeyChange,
    keyId: string,
    wanted: Partial<KeyRules>,
  ): Promise<KeyWithSpend> {
    const { accountId } = actor;
    await inEntityTransaction(this.parts.source, async ({ entities, client }) => {
      await lockBalance(client, accountId);
      const before = await entities.findOneBy(ApiKey, { id: keyId, accountId, revokedAt: IsNull() });
      if (!before) throw noSuchKey();
      const rules = realChanges<KeyRules>(before, wanted);
      if (Object.keys(rules).length === 0) return;
      await this.check(client, rules);
      await entities.update(ApiKey, keyId, rules);
      const old = Object.keys(rules).map((name) => [name, before[name as keyof KeyRules]]);
      const change = { before: describe(Object.fromEntries(old)), after: describe(rules) };
      await countDaily(client, accountId, 'changes of settings');
      await note(client, { actor, requestId, action: 'key.changed', keyId, ...change });
      await client.query(outboxInsert('billing', [outboxRow(topics.keyChanged, { keyId, accountId })]));
    });
    this.parts.relay.wake();
    return this.find(accountId, keyId);
  }

  /** Deletes a key permanently. Later holds are refused. @throws ApiError not_found */
  async remove({ actor, requestId }: KeyChange, keyId: string): Promise<void> {
    const { accountId } = actor;
    await inEntityTransaction(this.parts.source, async ({ entities, client }) => {
      await lockBalance(client, accountId);
      if (!(await entities.existsBy(ApiKey, { id: keyId, accountId, revokedAt: IsNull() })))
        throw noSuchKey();
      await revokeKey(client, keyId);
      await note(client, { actor, requestId, action: 'key.deleted', keyId });
      await client.query(outboxInsert('billing', [outboxRow(topics.keyChanged, { keyId, accountId })]));
    });
    this.parts.relay.wake();
  }

  private async check(client: pg.ClientBase, rules: Partial<KeyRules>): Promise<void> {
    const { expiresAt } = rules;
    if (expiresAt && expiresAt.getTime() <= this.parts.clock.nowMs())
      throw invalidField('expiresAt', 'must be in the future.');
    for (const param of ['allowedModels', 'fallbackModels'] as const) {
      await requireModels(client, rules[param] ?? [], param);
    }
  }
}

/** Under the account's lock, so that two requests cannot pass together. @throws ApiError conflict, too_many_attempts */
async function refuseTooMany({ entities, client }: EntityTransaction, accountId: string): Promise<void> {
  const count = await entities.countBy(ApiKey, { accountId, revokedAt: IsNull() });
  if (count >= MAX_KEYS) throw new ApiError('conflict', `An account can have at most ${MAX_KEYS} keys.`);
  await countDaily(client, accountId, 'new keys');
}

/** The oldest key that has not expired. */
async function workingKey(client: pg.ClientBase, accountId: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
     ORDER BY id LIMIT 1`,
    [accountId],
  );
  return rows[0]?.id ?? null;
}

async function withSpend(manager: EntityManager, keys: ApiKey[]): Promise<KeyWithSpend[]> {
  const rows = await manager.query<{ keyId: string; spent: bigint; spentThisMonth: bigint }[]>(
    `SELECT key_id AS "keyId", sum(spent)::bigint AS spent, coalesce(sum(spent) FILTER (
       WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint AS "spentThisMonth"
     FROM key_spend WHERE key_id = ANY($1) GROUP BY key_id`,
    [keys.map(({ id }) => id)],
  );
  const spends = new Map(rows.map((row) => [row.keyId, row]));
  return keys.map((key) => {
    const { spent = 0n, spentThisMonth = 0n } = spends.get(key.id) ?? {};
    return { ...key, spent, spentThisMonth };
  });
}

interface Note extends KeyChange {
  action: AuditAction;
  keyId: string;
  before?: unknown;
  after?: unknown;
}

async function note(client: pg.ClientBase, { actor, keyId, ...rest }: Note): Promise<void> {
  const { userId, accountId } = actor;
  await audit(client, { actor: `user:${userId}`, subject: `key:${keyId}`, accountId, ...rest });
}

/** Settings as stored in the audit log: amounts as decimal strings, no name, and only the number of allowed addresses. */
function describe(rules: Partial<KeyRules> & { group?: string }): Record<string, unknown> {
  const kept = (name: string, value: unknown) => {
    if (name === 'name') return NO_NAME;
    if (name === 'allowedIps' && Array.isArray(value)) return value.length;
    return typeof value === 'bigint' ? formatAmount(nanos(value)) : value;
  };
  return Object.fromEntries(Object.entries(rules).map(([name, value]) => [name, kept(name, value)]));
}

function noSuchKey(): ApiError {
  return new ApiError('not_found', 'You have no such key.');
}
