import type pg from 'pg';

/** Every advisory lock with a number. They only have to be different within one database. */
const NUMBERS = {
  /** In the database that the administrator logs in to. */
  preparation: 7012004830n,
  migration: 7012004831n,
  balanceSnapshots: 7012004832n,
  ledgerChain: 7012004833n,
  periodClose: 7012004841n,
  reconciler: 201355777n,
  requestLog: 7012004842n,
  webhookClaims: 7012004843n,
  administrators: 7011102n,
} as const;

export type LockName = keyof typeof NUMBERS;

/** Locks for one thing each, such as a payment: named by a kind and the thing's key. */
export type LockKind =
  | 'approval'
  | 'bank-matching'
  | 'outflow'
  | 'payment'
  | 'provider-postings'
  | 'provider-report'
  | 'suspense';

/** Makes holds of an account wait until the transaction ends: like them, it locks the balances. */
export async function lockHolds(client: pg.ClientBase, accountId: string): Promise<void> {
  await client.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [accountId]);
}

/** Waits for a lock, and keeps it until the transaction ends. */
export async function lock(client: pg.ClientBase, name: LockName): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [NUMBERS[name]]);
}

/** Takes a lock until the transaction ends, if it is free. */
export async function tryLock(client: pg.ClientBase, name: LockName): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', [
    NUMBERS[name],
  ]);
  return rows[0]?.mine ?? false;
}

/** Waits for the lock of one thing, and keeps it until the transaction ends. */
export async function lockOne(client: pg.ClientBase, kind: LockKind, ...key: string[]): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [[kind, ...key].join(':')]);
}

/** Waits for a lock, and keeps it until the connection is closed. */
export async function lockConnection(client: pg.ClientBase, name: LockName): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [NUMBERS[name]]);
}

/** Works under a lock of a separate connection, so that it ends with the process; null if someone else has it. */
export async function underLock<T>(
  pool: pg.Pool,
  name: LockName,
  work: () => Promise<T>,
): Promise<{ result: T } | null> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_lock($1) AS mine', [
      NUMBERS[name],
    ]);
    if (!rows[0]?.mine) return null;
    try {
      return { result: await work() };
    } finally {
      await client
        .query('SELECT pg_advisory_unlock($1)', [NUMBERS[name]])
        .catch((failure: Error) => (broken = failure));
    }
  } finally {
    // A connection that may still have the lock must not return to the pool.
    client.release(broken);
  }
}
