import type pg from 'pg';
import { lockOne } from '#database/locks.js';

/** Everything that is paid out by a person's decision, and the limit that it counts toward. */
const LIMIT_OF = {
  'charge.refund': 'charge-refund',
  'topup.refund': 'topup-refund',
  'topup.manual': 'manual-topup',
  'suspense.credit': 'manual-topup',
  'suspense.return': 'topup-refund',
  'suspense.expense': 'adjustment',
  adjustment: 'adjustment',
  'write-off': 'adjustment',
  'provider-line.acceptance': 'adjustment',
  'provider-line.booking': 'adjustment',
} as const;

type OutflowKind = keyof typeof LIMIT_OF;
export type LimitName = (typeof LIMIT_OF)[OutflowKind] | 'price-change-percent';

export interface Outflow {
  kind: OutflowKind;
  /** The requester: `user:{id}`. */
  actor: string;
  /** The second person, if one approved. */
  approvedBy: string | null;
  /** Nanos; its sign does not matter. */
  amount: bigint;
  /** `kind:{id}` of the subject of the decision. */
  reference: string;
  accountId: string | null;
}

/**
 * Decisions that one person makes alone wait for each other. Taken before every other lock of a transaction, so that
 * none waits for it while holding locks.
 */
export async function lockOutflows(client: pg.ClientBase, actor: string): Promise<void> {
  await lockOne(client, 'outflow', actor);
}

/**
 * Records an outflow in the transaction that makes it. What one person pays out alone adds up over the UTC day, across accounts,
 * tickets and commands.
 * @returns whether it is allowed, and the limit. If not, nothing was written and a second person must agree.
 */
export async function takeOutflow(
  client: pg.ClientBase,
  outflow: Outflow,
): Promise<{ taken: boolean; limit: bigint }> {
  const { kind, actor, approvedBy, reference, accountId } = outflow;
  const amount = outflow.amount < 0n ? -outflow.amount : outflow.amount;
  const limitName = LIMIT_OF[kind];
  if (approvedBy === null) await lockOutflows(client, actor);
  const limit = await readLimit(client, limitName);
  const { rowCount } = await client.query(
    `INSERT INTO outflows (actor, day, kind, limit_name, amount, reference, account_id, approved_by, alone_limit)
     SELECT $1, today.day, $2, $3, $4::bigint, $5, $6, $7, $8::bigint
     FROM (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day) AS today
     WHERE $7::text IS NOT NULL OR $4::bigint + (SELECT coalesce(sum(o.amount), 0) FROM outflows o
       WHERE o.actor = $1 AND o.day = today.day AND o.limit_name = $3 AND o.approved_by IS NULL) <= $8::bigint`,
    [actor, kind, limitName, amount, reference, accountId, approvedBy, limit],
  );
  return { taken: rowCount === 1, limit };
}

/** The limits configured at startup, stored so that every program uses the same. Nanos, or percent. */
export async function readLimit(client: Pick<pg.ClientBase, 'query'>, name: LimitName): Promise<bigint> {
  const { rows } = await client.query<{ amount: bigint }>('SELECT amount FROM desk_limits WHERE name = $1', [
    name,
  ]);
  return rows[0]?.amount ?? 0n;
}

/** Stores it. If several control planes start with different limits, the last one's applies to all. */
export async function recordLimit(
  database: Pick<pg.Pool, 'query'>,
  name: LimitName,
  amount: bigint,
): Promise<void> {
  await database.query(
    'UPDATE desk_limits SET amount = $2, recorded_at = now() WHERE name = $1 AND amount <> $2',
    [name, amount],
  );
}
