import type { Command } from 'commander';
import type pg from 'pg';
import { IdentityRefusal } from '#identity/refusal.js';
import { formatAmount, nanos } from '#money/amount.js';
import type { KeyWithSpend } from '#people/keys/key.service.js';
import { command } from '../command.js';
import { onDatabase } from '../database.access.js';
import { printFacts, printJson } from '../output.js';

type KeyRow = Pick<
  KeyWithSpend,
  | ('accountId' | 'name' | 'prefix' | 'group' | 'allowedModels' | 'allowedIps' | 'requestsPerMinute')
  | ('maxRunningTasks' | 'totalLimit' | 'monthlyLimit' | 'spent' | 'spentThisMonth')
  | ('expiresAt' | 'revokedAt' | 'lastUsedAt' | 'createdAt')
> & { keyId: string };

export function addKeyShow(keys: Command): Command {
  command('show', 'limits, spend and last use of a key', keys)
    .argument('<key>', 'key id, as `accounts show` lists it (not the key itself)')
    .action(show);
  return keys;
}

async function show(keyId: string, { json }: { json?: boolean }): Promise<void> {
  const key = await onDatabase((pool) => read(pool, keyId));
  if (json) return printJson(key);
  const limit = (value: string | number | null) => (value === null ? 'no limit' : String(value));
  const time = (value: Date | null) => value?.toISOString() ?? 'never';
  printFacts([
    ['Key id', key.keyId],
    ['Begins with', key.prefix ?? 'not known'],
    ['Account', key.accountId],
    ['Name', key.name],
    ['Group', key.group],
    ['State', key.revokedAt ? `revoked ${time(key.revokedAt)}` : 'live'],
    ['Expires', time(key.expiresAt)],
    ['Last used', time(key.lastUsedAt)],
    ['Models', key.allowedModels?.join(', ') ?? 'all of the group'],
    ['Addresses', key.allowedIps?.join(', ') ?? 'all'],
    ['Spent', `${key.spent} credits of ${limit(key.totalLimit)}`],
    ['This month', `${key.spentThisMonth} credits of ${limit(key.monthlyLimit)}`],
    ['Requests per minute', limit(key.requestsPerMinute)],
    ['Running tasks', limit(key.maxRunningTasks)],
  ]);
}

const KEY = `SELECT k.id AS "keyId", k.account_id AS "accountId", k.name, k.key_prefix AS prefix, k.group_name AS "group",
    k.allowed_models AS "allowedModels", k.allowed_ips AS "allowedIps",
    k.requests_per_minute AS "requestsPerMinute", k.max_running_tasks AS "maxRunningTasks",
    k.total_limit_nanos AS "totalLimit", k.monthly_limit_nanos AS "monthlyLimit",
    coalesce(sum(s.spent), 0)::bigint AS spent, coalesce(sum(s.spent) FILTER (
      WHERE s.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint AS "spentThisMonth",
    k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt",
    k.created_at AS "createdAt"
  FROM api_keys k LEFT JOIN key_spend s ON s.key_id = k.id WHERE k.id = $1 GROUP BY k.id`;

/** Amounts as decimal strings. @throws IdentityRefusal if there is no such key */
async function read(pool: pg.Pool, keyId: string) {
  const { rows } = await pool.query<KeyRow>(KEY, [keyId]);
  const row = rows[0];
  if (!row) throw new IdentityRefusal('key_not_found', `There is no key ${JSON.stringify(keyId)}.`);
  const { totalLimit, monthlyLimit, spent, spentThisMonth, ...key } = row;
  return {
    ...key,
    totalLimit: totalLimit === null ? null : formatAmount(nanos(totalLimit)),
    monthlyLimit: monthlyLimit === null ? null : formatAmount(nanos(monthlyLimit)),
    spent: formatAmount(nanos(spent)),
    spentThisMonth: formatAmount(nanos(spentThisMonth)),
  };
}
