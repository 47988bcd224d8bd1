import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { newId } from '#platform/ids.js';
import type { BenchAccount } from './ledger-bench.accounts.js';
import { percentile } from './report.js';

const AMOUNT = 30_000_000n;

async function ledgerIds(
  client: pg.ClientBase,
  accounts: BenchAccount[],
): Promise<Map<string, { main: string; held: string }>> {
  const { rows } = await client.query<{ accountId: string; main: string; held: string }>(
    `SELECT account_id AS "accountId", main_ledger_id::text AS main, held_ledger_id::text AS held
     FROM customer_balances WHERE account_id = ANY($1)`,
    [accounts.map((account) => account.accountId)],
  );
  return new Map(rows.map((row) => [row.accountId, row]));
}

async function nextTransactionId(client: pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ id: string }>({
    name: 'floor-id',
    text: `SELECT nextval('ledger_transaction_blocks')::text AS id`,
  });
  return BigInt(rows[0]?.id ?? 0);
}

/**
 * How relays usually do it: one connection, one transaction per charge, ordinary prepared statements. One after the
 * other, or this many per second, in which case each runs cold after waiting.
 */
export async function oneByOneFloor(
  pool: pg.Pool,
  accounts: BenchAccount[],
  { milliseconds, perSecond: rate = Infinity }: { milliseconds: number; perSecond?: number | undefined },
): Promise<{ perSecond: number; p50Ms: number; p99Ms: number }> {
  const client = await pool.connect();
  try {
    const ids = await ledgerIds(client, accounts);
    const latencies: number[] = [];
    const startedMs = performance.now();
    for (let next = 0; performance.now() - startedMs < milliseconds; next += 1) {
      const account = accounts[next % accounts.length] as BenchAccount;
      const askedMs = performance.now();
      await holdOneByOne(client, account, ids.get(account.accountId) as { main: string; held: string });
      latencies.push(performance.now() - askedMs);
      const nextAtMs = startedMs + ((next + 1) * 1000) / rate;
      if (nextAtMs > performance.now()) await pause(nextAtMs - performance.now());
    }
    const perSecond = latencies.length / ((performance.now() - startedMs) / 1000);
    return { perSecond, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
  } finally {
    client.release();
  }
}

async function holdOneByOne(
  client: pg.ClientBase,
  account: BenchAccount,
  ids: { main: string; held: string },
): Promise<void> {
  const { accountId, keyId } = account;
  const chargeId = newId();
  await client.query('BEGIN');
  const { rows } = await client.query<{ main: string; held: string }>({
    name: 'floor-lock',
    text: 'SELECT main::text, held::text FROM customer_balances WHERE account_id = $1 FOR UPDATE',
    values: [accountId],
  });
  const main = BigInt(rows[0]?.main ?? 0) - AMOUNT;
  const held = BigInt(rows[0]?.held ?? 0) + AMOUNT;
  const id = await nextTransactionId(client);
  await client.query({ ...INSERT_CHARGE, values: [chargeId, accountId, randomBytes(32), keyId, AMOUNT] });
  await client.query({
    name: 'floor-transaction',
    text: `INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at) VALUES ($1, 'hold', $2, $3, $4, now())`,
    values: [id, `charge:${chargeId}:hold`, accountId, chargeId],
  });
  await client.query({
    name: 'floor-entries',
    text: `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after)
           VALUES ($1, 0, 'CRD', $2, -$4::bigint, $5), ($1, 1, 'CRD', $3, $4, $6)`,
    values: [id, ids.main, ids.held, AMOUNT, main, held],
  });
  await client.query({
    name: 'floor-balance',
    text: 'UPDATE customer_balances SET main = $2, held = $3 WHERE account_id = $1',
    values: [accountId, main, held],
  });
  await client.query({ ...ADD_SPEND, values: [keyId, AMOUNT] });
  await client.query('COMMIT');
}

const INSERT_CHARGE = {
  name: 'floor-charge',
  text: `INSERT INTO charges (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name, units,
           unit_price, multiplier, rule, price_version_id, multiplier_version_id, amount, request_id, deadline)
         VALUES ($1, $2, 'held', $3, $4, 'image', 'imgmodel-4', 'imgmodel-4', 'Vendora-Main', 1, 0.03, 1, 'list', 1, 1, $5,
           'bench', now() + interval '10 minutes')`,
};

const ADD_SPEND = {
  name: 'floor-spend',
  text: `INSERT INTO key_spend AS k (key_id, month, spent) VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC'), $2)
         ON CONFLICT (key_id, month) DO UPDATE SET spent = k.spent + excluded.spent`,
};

const BULK_ROWS = 500;

/** The same rows without reading, locking or deciding anything: the limit set by disk and indexes. */
export async function bulkInsertFloor(
  pool: pg.Pool,
  accounts: BenchAccount[],
  milliseconds: number,
): Promise<number> {
  const client = await pool.connect();
  try {
    const ids = await ledgerIds(client, accounts);
    const startedMs = performance.now();
    let rows = 0;
    for (; performance.now() - startedMs < milliseconds; rows += BULK_ROWS) {
      const base = await nextTransactionId(client);
      const batch = Array.from(
        { length: BULK_ROWS },
        (_, index) => accounts[(rows + index) % accounts.length] as BenchAccount,
      );
      await insertBulk(client, base, { batch, ids });
    }
    return rows / ((performance.now() - startedMs) / 1000);
  } finally {
    client.release();
  }
}

async function insertBulk(
  client: pg.ClientBase,
  base: bigint,
  rows: { batch: BenchAccount[]; ids: Map<string, { main: string; held: string }> },
): Promise<void> {
  const { batch, ids } = rows;
  await client.query({
    name: 'floor-bulk',
    text: `WITH input AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) WITH ORDINALITY
             AS t (charge_id, account_id, key_id, main_id, held_id, n)),
           charges AS (INSERT INTO charges (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name,
             units, unit_price, multiplier, rule, price_version_id, multiplier_version_id, amount, request_id, deadline)
             SELECT charge_id, account_id, 'held', decode(repeat('ab', 32), 'hex'), key_id, 'image', 'imgmodel-4', 'imgmodel-4',
               'Vendora-Main', 1, 0.03, 1, 'list', 1, 1, 30000000, 'bench', now() + interval '10 minutes' FROM input),
           transactions AS (INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at)
             SELECT $1::bigint + n, 'hold', 'charge:' || charge_id || ':hold', account_id, charge_id, now() FROM input)
           INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after)
             SELECT $1::bigint + n, 0, 'CRD', main_id, -30000000, 0 FROM input
             UNION ALL SELECT $1::bigint + n, 1, 'CRD', held_id, 30000000, 0 FROM input`,
    values: [
      base,
      batch.map(() => newId()),
      batch.map((account) => account.accountId),
      batch.map((account) => account.keyId),
      batch.map((account) => ids.get(account.accountId)?.main),
      batch.map((account) => ids.get(account.accountId)?.held),
    ],
  });
}
