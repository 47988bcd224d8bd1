import type pg from 'pg';
import { spentIn } from '#identity/key.store.js';
import { type Nanos, nanos, ZERO } from '#money/amount.js';

/** A spending limit and what is used of it, in nanos. Holds count until they are released. */
export interface Spending {
  readonly limit: Nanos | null;
  readonly used: Nanos;
}

/** A key, and its spending limits. Months are UTC. */
export interface KeyAllowance {
  readonly name: string;
  readonly prefix: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly total: Spending;
  readonly month: Spending;
  readonly accountMonth: Spending;
  readonly balance: Nanos;
  readonly frozen: boolean;
}

type Row = Pick<KeyAllowance, 'name' | 'prefix' | 'createdAt' | 'expiresAt' | 'frozen'> &
  Record<'balance' | 'used' | 'usedThisMonth' | 'usedByAccount', bigint> &
  Record<'limit' | 'monthlyLimit' | 'accountLimit', bigint | null>;

/** The account's spending is only read if it has a limit, as for a hold. */
const FIND = {
  name: 'key-allowance',
  text: `WITH instant AS (SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date AS month)
    SELECT k.name, k.key_prefix AS prefix, k.created_at AS "createdAt", k.expires_at AS "expiresAt", b.frozen,
      b.main AS balance, k.total_limit_nanos AS "limit", k.monthly_limit_nanos AS "monthlyLimit", b.monthly_limit AS "accountLimit",
      coalesce((SELECT sum(s.spent) FROM key_spend s WHERE s.key_id = k.id), 0)::bigint AS used,
      coalesce((SELECT s.spent FROM key_spend s WHERE s.key_id = k.id AND s.month = i.month), 0) AS "usedThisMonth",
      CASE WHEN b.monthly_limit IS NULL THEN 0 ELSE
        (SELECT ${spentIn('i.month')} AND k.account_id = b.account_id) END AS "usedByAccount"
    FROM instant i, api_keys k JOIN customer_balances b ON b.account_id = k.account_id
    WHERE k.id = $2 AND k.account_id = $1`,
};

/** What a key of an account may still spend; null if there is no such key. */
export async function readKeyAllowance(
  pool: pg.Pool,
  accountId: string,
  keyId: string,
): Promise<KeyAllowance | null> {
  const { rows } = await pool.query<Row>({ ...FIND, values: [accountId, keyId] });
  const row = rows[0];
  if (!row) return null;
  const { name, prefix, createdAt, expiresAt, frozen, balance } = row;
  return {
    name,
    prefix,
    createdAt,
    expiresAt,
    frozen,
    balance: nanos(balance),
    total: spending(row.limit, row.used),
    month: spending(row.monthlyLimit, row.usedThisMonth),
    accountMonth: spending(row.accountLimit, row.usedByAccount),
  };
}

function spending(limit: bigint | null, used: bigint): Spending {
  return { limit: limit === null ? null : nanos(limit), used: nanos(used) };
}

/** The rest of a limit, 0 if it was lowered below what is used; null without a limit. */
export function leftOf({ limit, used }: Spending): Nanos | null {
  if (limit === null) return null;
  return limit > used ? nanos(limit - used) : ZERO;
}

/** What the key can spend now: the lowest of the balance and the rest of each limit. */
export function spendableBy({ balance, frozen, total, month, accountMonth }: KeyAllowance): Nanos {
  if (frozen || balance < ZERO) return ZERO;
  return [total, month, accountMonth].reduce((least, each) => {
    const left = leftOf(each);
    return left !== null && left < least ? left : least;
  }, balance);
}
