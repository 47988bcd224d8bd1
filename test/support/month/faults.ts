import type pg from 'pg';
import { runControlsOn, type FoundItems } from '#finance/control-run.js';
import { controls } from '#finance/controls.js';
import { atHorizon, type Horizon } from '#ledger/postings/horizon.js';
import { creditTopup } from '#ledger/postings/topup.js';
import { parseAmount } from '#money/amount.js';
import { priceCredits } from '#topup/conversion.js';
import type { MonthDatabase } from './month-database.js';

/** A planted fault: which control must find it, and what the finding must name. */
export interface PlantedFault {
  control: string;
  subject: string;
  state: string;
}

export interface Fault {
  what: string;
  /** Writes as the database's owner with the triggers off, which no program may do. */
  plant(client: pg.ClientBase): Promise<PlantedFault[]>;
}

/** What an intruder who got past every rule of the database could do to the books, and what operators do by mistake. */
export const faults: readonly Fault[] = [
  {
    what: 'an edited row',
    plant: async (client) => {
      const id = await pick(client, `SELECT id FROM ledger_transactions WHERE kind = 'settle'`);
      await client.query(
        `UPDATE ledger_entries SET amount = amount + CASE WHEN amount > 0 THEN 1 ELSE -1 END
         WHERE transaction_id = $1 AND ordinal < 2`,
        [id],
      );
      return [{ control: 'chain-whole', subject: `transaction:${id}`, state: 'transaction_changed' }];
    },
  },
  {
    what: 'a removed payment',
    plant: async (client) => {
      const id = await pick(
        client,
        `SELECT t.id FROM topups t WHERE provider = 'stripe' AND order_id IS NOT NULL
           AND NOT EXISTS (SELECT FROM suspense_items s WHERE s.topup_id = t.id)
           AND NOT EXISTS (SELECT FROM topup_refunds r WHERE r.topup_id = t.id)
           AND NOT EXISTS (SELECT FROM disputes d WHERE d.topup_id = t.id)`,
      );
      const { rows } = await client.query<{ payment: string; tx: bigint }>(
        'DELETE FROM topups WHERE id = $1 RETURNING payment_id AS payment, transaction_id AS tx',
        [id],
      );
      const { payment, tx } = rows[0] as { payment: string; tx: bigint };
      await removeTransaction(client, tx);
      return [
        { control: 'payments', subject: `payment:stripe:${payment}`, state: 'missing_here' },
        { control: 'chain-whole', subject: `transaction:${tx}`, state: 'transaction_missing' },
      ];
    },
  },
  {
    what: 'a doubled top-up',
    plant: async (client) => {
      const id = await pick(
        client,
        `SELECT id FROM topups WHERE provider = 'stripe' AND order_id IS NOT NULL`,
      );
      const { rows } = await client.query<{ accountId: string; paymentId: string }>(
        'SELECT account_id AS "accountId", payment_id AS "paymentId" FROM topups WHERE id = $1',
        [id],
      );
      const { accountId, paymentId } = rows[0] as { accountId: string; paymentId: string };
      const bought = priceCredits(parseAmount('10'), '1.3');
      await client.query('SET LOCAL session_replication_role = origin');
      await creditTopup(client, {
        ...bought,
        accountId,
        provider: 'stripe',
        paymentId: `${paymentId}-again`,
        rate: '1.3',
        currency: 'USD',
      });
      // Dated like the first one: a report covers that time, not the present.
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        `UPDATE topups SET recorded_at = (SELECT recorded_at FROM topups WHERE id = $1) WHERE payment_id = $2`,
        [id, `${paymentId}-again`],
      );
      return [{ control: 'payments', subject: `payment:stripe:${paymentId}-again`, state: 'missing_there' }];
    },
  },
  {
    what: 'a missing release',
    plant: async (client) => {
      const id = await pick(
        client,
        `SELECT t.id FROM tasks t JOIN charges c ON c.id = t.charge_id WHERE t.state = 'failed' AND c.state = 'released'`,
      );
      const { rows } = await client.query<{ tx: bigint }>(
        `SELECT l.id AS tx FROM tasks t JOIN ledger_transactions l ON l.charge_id = t.charge_id AND l.kind = 'release'
         WHERE t.id = $1`,
        [id],
      );
      await removeTransaction(client, rows[0]?.tx as bigint);
      await client.query(
        `UPDATE charges SET state = 'held', resolved_at = NULL, settled = NULL, released = NULL
         WHERE id = (SELECT charge_id FROM tasks WHERE id = $1)`,
        [id],
      );
      return [{ control: 'charges-tasks', subject: `task:${id}`, state: 'failed_without_release' }];
    },
  },
  {
    what: 'a shifted date',
    plant: async (client) => {
      const id = await pick(
        client,
        `SELECT id FROM ledger_transactions WHERE kind = 'topup' AND effective_at < '2026-11-01'`,
      );
      const { rows } = await client.query<{ accountId: string }>(
        `UPDATE ledger_transactions SET effective_at = effective_at + interval '31 days' WHERE id = $1
         RETURNING account_id AS "accountId"`,
        [id],
      );
      const subject = `period:1:customer:${rows[0]?.accountId}:main`;
      return [
        { control: 'closed-periods', subject, state: 'differs' },
        { control: 'chain-whole', subject: `transaction:${id}`, state: 'transaction_changed' },
      ];
    },
  },
];

/** Plants a fault, runs the controls that must find it, and removes the fault. */
export async function look(
  database: MonthDatabase,
  fault: Fault,
): Promise<{ planted: PlantedFault; found: FoundItems | null; error: string | null }[]> {
  const horizon = await atHorizon(database.owner, (_, at) => Promise.resolve(at));
  const client = await database.owner.connect();
  try {
    await client.query(`BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL timezone = 'UTC'`);
    const planted = await fault.plant(client);
    const looks = [];
    for (const each of planted) looks.push(await lookAs(client, horizon, each));
    return looks;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

async function lookAs(client: pg.PoolClient, horizon: Horizon, planted: PlantedFault) {
  const chosen = controls.filter(({ id }) => id === planted.control);
  const [outcome] = await runControlsOn(
    { client, horizon },
    { controls: chosen, graceMs: 0, limitMs: 120_000 },
  );
  return { planted, found: outcome?.result ?? null, error: outcome?.error ?? null };
}

/** The middle row, whatever its ID. */
async function pick(client: pg.ClientBase, sql: string): Promise<string> {
  const { rows } = await client.query<{ id: bigint | string }>(
    `SELECT id FROM (SELECT id, ntile(2) OVER (ORDER BY id) AS half FROM (${sql}) AS all_of_it) AS halves
     WHERE half = 2 OR half = 1 ORDER BY half DESC, id LIMIT 1`,
  );
  if (!rows[0]) throw new Error(`there is nothing to plant a fault in: ${sql}`);
  return String(rows[0].id);
}

async function removeTransaction(client: pg.ClientBase, id: bigint): Promise<void> {
  await client.query('DELETE FROM ledger_entries WHERE transaction_id = $1', [id]);
  await client.query('DELETE FROM ledger_transactions WHERE id = $1', [id]);
}
